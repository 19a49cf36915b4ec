/**
 * The logs of simulated containers: lines about the life of each instance, made from what its pod reports when somebody
 * first asks, and continued while the pod changes. Nothing is kept for containers that nobody asks about.
 */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { ContainerStatus } from '../../../api/kinds/core/types/pod-status.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { ContainerLog } from '../../node-port/container-log.ts'

/** The newest that somebody asked for; the log of another is made anew. */
const maxLogs = 500
/** A pod may name a command or image of a megabyte. */
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
  readonly #held = new BoundedMap<string, Held>(maxLogs)

  /** The log of the instance of this number; undefined where there has been none. */
  log(pod: Pod, container: Container, instance: 'last' | 'previous'): ContainerLog | undefined {
    const status = statusOf(pod, container.name ?? '')
    const restart = (status?.restartCount ?? 0) - (instance === 'last' ? 0 : 1)
    const lines = linesOf(pod, container, restart)
    if (lines.length === 0) return undefined
    const { uid = '' } = pod.metadata
    const key = `${uid}/${container.name}/${restart}`
    const known = this.#held.get(key) ?? {
      uid,
      container: container.name ?? '',
      restart,
      log: new ContainerLog(),
      lines: 0,
    }
    this.#held.set(key, known)
    extend(known, pod, lines)
    return known.log
  }

  /** A pod has changed: logs that somebody has asked for go on, or end with it. */
  observe(pod: Pod, state: 'lives' | 'is over'): void {
    if (this.#held.size === 0) return
    for (const [key, held] of this.#held) {
      if (held.uid !== pod.metadata.uid) continue
      const container = containersOf(pod).find(({ name }) => name === held.container)
      if (container !== undefined) extend(held, pod, linesOf(pod, container, held.restart))
      if (state === 'lives') continue
      held.log.end()
      this.#held.delete(key)
    }
  }
}

/** All containers of a pod that can have a log. */
export function containersOf({ spec }: Pod): Container[] {
  const ephemeral = (spec?.ephemeralContainers ?? []) as Container[]
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...ephemeral]
}

/** What the pod reports of a container. */
export function statusOf({ status = {} }: Pod, name: string): ContainerStatus | undefined {
  const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]
  return all.find((each) => each.name === name)
}

function extend(held: Held, pod: Pod, lines: readonly Line[]): void {
  for (const { time, text } of lines.slice(held.lines)) held.log.append(time, text)
  held.lines = Math.max(held.lines, lines.length)
  const status = statusOf(pod, held.container)
  const isOver = (status?.restartCount ?? 0) > held.restart || status?.state?.running === undefined
  if (isOver) held.log.end()
}

/** Lines about one instance, oldest first; none where it has not started. */
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
    { time: start, text: 'this container is simulated: it runs no program' },
    ...(command === '' ? [] : [{ time: start, text: `its command is ${command}` }]),
    ...(over === undefined
      ? []
      : [
          {
            time: Date.parse(over.finishedAt ?? startedAt),
            text: `container ${container.name} ended with code ${over.exitCode ?? 0}`,
          },
        ]),
  ]
  return lines.map(({ time, text }) => ({ time, text: shorten(text, maxLineLength) }))
}

/** The command as JSON; '' where the container names none. Only as much is read as a line can show. */
function shownCommand({ command = [], args = [] }: Container): string {
  const words: string[] = []
  let length = 0
  for (const word of [...command, ...args]) {
    if (length > maxLineLength) break
    length += word.length + 1
    words.push(word.slice(0, maxLineLength))
  }
  return words.length === 0 ? '' : JSON.stringify(words)
}
