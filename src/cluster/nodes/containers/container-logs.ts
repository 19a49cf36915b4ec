/**
 * Generated logs of simulated containers. The lines describe the lifecycle of each instance. A log is generated from
 * the pod's status when it is first requested, and is extended as the pod changes. Nothing is stored for containers
 * whose logs have not been requested.
 */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { ContainerStatus } from '../../../api/kinds/core/types/pod-status.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { ContainerLog } from '../../node-port/container-log.ts'

/**
 * Maximum number of logs in memory. The least recently requested logs are dropped and regenerated on the next request.
 */
const maxLogs = 500
/** Maximum length of a line, because the command or image that a pod specifies may be a megabyte long. */
const maxLineLength = 2048

interface Held {
  readonly uid: string
  readonly container: string
  readonly restart: number
  readonly log: ContainerLog
  lines: number
}

interface Line {
  readonly time: number
  readonly text: string
}

export class ContainerLogs {
  readonly #logs = new BoundedMap<string, Held>(maxLogs)

  /** Returns the log of the last or the previous instance, or undefined if that instance never started. */
  log(pod: Pod, container: Container, instance: 'last' | 'previous'): ContainerLog | undefined {
    const status = statusOf(pod, container.name ?? '')
    const restart = (status?.restartCount ?? 0) - (instance === 'last' ? 0 : 1)
    const lines = linesOf(pod, container, restart)
    if (lines.length === 0) return undefined
    const { uid = '' } = pod.metadata
    const key = `${uid}/${container.name}/${restart}`
    const entry = this.#logs.get(key) ?? {
      uid,
      container: container.name ?? '',
      restart,
      log: new ContainerLog(),
      lines: 0,
    }
    this.#logs.set(key, entry)
    extend(entry, pod, lines)
    return entry.log
  }

  /** Extends the previously requested logs of a changed pod, and ends them if the pod has terminated. */
  observe(pod: Pod, state: 'lives' | 'is over'): void {
    if (this.#logs.size === 0) return
    for (const [key, entry] of this.#logs) {
      if (entry.uid !== pod.metadata.uid) continue
      const container = containersOf(pod).find(({ name }) => name === entry.container)
      if (container !== undefined) extend(entry, pod, linesOf(pod, container, entry.restart))
      if (state === 'lives') continue
      entry.log.end()
      this.#logs.delete(key)
    }
  }
}

/** Returns all containers of a pod that can have a log. */
export function containersOf({ spec }: Pod): Container[] {
  const ephemeral = (spec?.ephemeralContainers ?? []) as Container[]
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...ephemeral]
}

/** Returns the status of a container of any kind, if the pod reports one. */
export function statusOf({ status = {} }: Pod, name: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses]
  return all.find((each) => each.name === name)
}

function extend(entry: Held, pod: Pod, lines: readonly Line[]): void {
  for (const { time, text } of lines.slice(entry.lines)) entry.log.append(time, text)
  entry.lines = Math.max(entry.lines, lines.length)
  const status = statusOf(pod, entry.container)
  const isOver = (status?.restartCount ?? 0) > entry.restart || status?.state?.running === undefined
  if (isOver) entry.log.end()
}

/** Returns the lines of one instance, oldest first, or an empty list if the instance has not started. */
function linesOf(pod: Pod, container: Container, restart: number): Line[] {
  const status = statusOf(pod, container.name ?? '')
  if (status === undefined || restart < 0) return []
  const isPresent = restart === (status.restartCount ?? 0)
  const ended = isPresent ? (status.state?.terminated ?? status.lastState?.terminated) : status.lastState?.terminated
  const isWaiting = isPresent && status.state?.waiting !== undefined
  const running = isPresent ? status.state?.running : undefined
  const over =
    running === undefined && (!isPresent || status.state?.terminated !== undefined || isWaiting) ? ended : undefined
  const startedAt = running?.startedAt ?? over?.startedAt
  if (startedAt === undefined) return []
  const start = Date.parse(startedAt)
  const { namespace, name } = pod.metadata
  const command = shownCommand(container)
  const lines = [
    {
      time: start,
      text: `container ${container.name} of pod ${namespace}/${name} started on node ${pod.spec?.nodeName}: image ${shorten(container.image ?? '', maxLineLength)}, restart ${restart}`,
    },
    { time: start, text: 'this container is simulated and runs no program' },
    ...(command === '' ? [] : [{ time: start, text: `its command is ${command}` }]),
    ...(over === undefined
      ? []
      : [
          {
            time: Date.parse(over.finishedAt ?? startedAt),
            text: `container ${container.name} exited with code ${over.exitCode ?? 0}`,
          },
        ]),
  ]
  return lines.map(({ time, text }) => ({ time, text: shorten(text, maxLineLength) }))
}

/**
 * Returns the command as JSON, or '' if the container specifies no command. Processes only as much of the command as
 * fits on one line.
 */
export function shownCommand({ command = [], args = [] }: Container): string {
  const words: string[] = []
  let length = 0
  for (const word of [...command, ...args]) {
    if (length > maxLineLength) break
    length += word.length + 1
    words.push(word.slice(0, maxLineLength))
  }
  return words.length === 0 ? '' : JSON.stringify(words)
}
