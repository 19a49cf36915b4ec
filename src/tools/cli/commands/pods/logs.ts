/** Implements `orchctl logs`, which prints container logs. */

import { normalTime } from '../../../../api/schema/time.ts'
import {
  flag,
  type OptionsOf,
  readBoolean,
  refusedFlag,
  text,
  toggle,
  UsageError,
} from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { connectionFlags, readTime } from '../../connection/connection-flags.ts'
import { objectNameIn, type Session } from '../../connection/session.ts'
import { escapeLine, escapeOutput } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { SeveralErrors } from '../../program/explain-error.ts'
import { type Container, chooseContainer, type Pod, podsOnceThere } from '../../streaming/pods.ts'

const flags = {
  container: flag({
    name: 'container',
    letter: 'c',
    value: 'NAME',
    read: text,
    help: "container name; default: the pod's default container",
  }),
  allContainers: toggle({ name: 'all-containers', help: 'print the logs of all containers in the pod' }),
  allPods: refusedFlag('all-pods', 'not implemented: -l SELECTOR shows the logs of several pods'),
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: 'label selector for pods',
  }),
  follow: toggle({ name: 'follow', letter: 'f', help: 'follow the logs; press Ctrl-C to stop' }),
  previous: toggle({ name: 'previous', letter: 'p', help: "print the logs of the container's previous instance" }),
  tail: flag({
    name: 'tail',
    value: 'LINES',
    default: '-1',
    read: readWhole,
    help: 'number of lines to print from the end of the log; -1 prints all lines, or 10 lines with a selector',
  }),
  since: flag({
    name: 'since',
    value: 'TIME',
    default: '0',
    read: readTime,
    help: 'print only lines newer than this age, such as 5s, 2m or 3h',
  }),
  sinceTime: flag({
    name: 'since-time',
    value: 'TIME',
    read: readMoment,
    help: 'print only lines newer than this time, such as 2024-01-02T15:04:05Z',
  }),
  limitBytes: flag({
    name: 'limit-bytes',
    value: 'NUMBER',
    default: '0',
    read: readWhole,
    help: 'maximum number of bytes of logs to print; 0 for no limit',
  }),
  timestamps: toggle({ name: 'timestamps', help: 'prefix each line with the time of the log entry' }),
  prefix: toggle({ name: 'prefix', help: 'prefix each line with the names of the pod and the container' }),
  ignoreErrors: toggle({
    name: 'ignore-errors',
    help: 'continue with the other containers if the log of a container cannot be read',
  }),
  maxLogRequests: flag({
    name: 'max-log-requests',
    value: 'NUMBER',
    default: '5',
    read: readWhole,
    help: 'maximum number of containers whose logs can be followed at the same time',
  }),
  podRunningTimeout: flag({
    name: 'pod-running-timeout',
    value: 'TIME',
    default: '20s',
    read: readTime,
    help: 'maximum time to wait for a pod, if the argument is TYPE/NAME',
  }),
  insecureBackend: flag({
    name: 'insecure-skip-tls-verify-backend',
    default: 'false',
    read: readBoolean,
    help: "skip verification of the node's certificate (insecure)",
  }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const logsCommand = defineCommand({
  name: 'logs',
  forms: ['POD [CONTAINER] [flags]', 'TYPE/NAME [flags]', '-l SELECTOR [flags]'],
  about: 'Print the logs of a pod, or of the pods that a selector matches.',
  examples: ['orchctl logs web', 'orchctl logs -f deploy/web -c app --tail=20', 'orchctl logs -l app=web --prefix'],
  flags,
  run: async (context, { options, words }) => {
    check(options, words)
    await withTypedSession(context, options, async (session) => {
      const sources = await findSources(session, words, options)
      if (options.follow && sources.length > options.maxLogRequests)
        throw new UsageError(
          `you are attempting to follow ${sources.length} log streams, but maximum allowed concurrency is ${options.maxLogRequests}, use --max-log-requests to increase the limit`,
        )
      if (options.follow) await followTogether(session, sources, options)
      else for (const source of sources) await tried(options, () => show(session, source, options))
    })
  },
})

function readWhole(value: string): number {
  if (!/^-?\d{1,12}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a whole number`)
  return Number(value)
}

function readMoment(value: string): string {
  if (value === '' || normalTime(value, false) !== undefined) return value
  throw new UsageError(`${JSON.stringify(value)} is not a valid time: use a time such as 2024-01-02T15:04:05Z`)
}

function check(options: Options, words: readonly string[]): void {
  if (words.length === 0 && options.selector === '')
    throw new UsageError('expected POD or TYPE/NAME, or a selector (-l)')
  if (words.length > 0 && options.selector !== '') throw new UsageError('only a selector (-l) or a POD name is allowed')
  if (words.length > 2) throw new UsageError("expected 'logs POD [CONTAINER]'")
  if (words.length === 2 && options.container !== '')
    throw new UsageError('only one of -c or an inline [CONTAINER] arg is allowed')
  if (options.allContainers && (options.container !== '' || words.length === 2))
    throw new UsageError('--all-containers=true should not be specified with container name')
  if (options.since > 0 && options.sinceTime !== '')
    throw new UsageError('at most one of `sinceTime` or `sinceSeconds` may be specified')
  if (options.limitBytes < 0) throw new UsageError('--limit-bytes must be greater than 0')
  if (options.tail < -1) throw new UsageError('--tail must be greater than or equal to -1')
}

interface LogSource {
  readonly pod: Pod
  readonly container: string
}

async function findSources(session: Session, words: readonly string[], options: Options): Promise<LogSource[]> {
  const [target, inline = ''] = words
  const container = options.container || inline
  const pods =
    target === undefined ? await selected(session, options.selector) : await podsOfTarget(session, target, options)
  return pods.flatMap((pod) =>
    options.allContainers
      ? inOrderOfStart(pod).map(({ name = '' }) => ({ pod, container: name }))
      : [{ pod, container: chooseContainer(session, pod, { container }).name ?? '' }],
  )
}

/** Returns the containers in start order. */
function inOrderOfStart({ spec = {} }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

async function selected({ client, context, namespace }: Session, labelSelector: string): Promise<Pod[]> {
  const { items } = await client.list(kinds.Pod, { namespace, labelSelector, signal: context.signal })
  if (items.length === 0) context.err(`No resources found in ${namespace} namespace.\n`)
  return items
}

/** Returns the pod whose log is shown: the first pod of the target. Waits if the target has no pods yet. */
async function podsOfTarget(session: Session, target: string, { podRunningTimeout }: Options): Promise<Pod[]> {
  const { pods, owner } = await podsOnceThere(session, [target], podRunningTimeout)
  if (pods.length === 0) throw new UsageError(`${owner} has no pods`)
  if (pods.length > 1)
    session.context.err(`Found ${pods.length} pods, using pod/${escapeLine(pods[0]!.metadata.name ?? '')}\n`)
  return pods.slice(0, 1)
}

async function followTogether(session: Session, sources: readonly LogSource[], options: Options): Promise<void> {
  const results = await Promise.allSettled(
    sources.map((source) => tried(options, () => show(session, source, options))),
  )
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new SeveralErrors(errors)
}

async function tried({ ignoreErrors }: Options, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!ignoreErrors) throw error
  })
}

async function show(session: Session, { pod, container }: LogSource, options: Options): Promise<void> {
  const { client, context } = session
  const name = pod.metadata.name ?? ''
  const path = objectPath(kinds.Pod, objectNameIn(session, kinds.Pod, name), 'log')
  const { body } = await client.open({
    method: 'GET',
    path,
    query: queryOf(container, options),
    accept: '*/*',
    signal: context.signal,
  })
  const head = options.prefix ? `[pod/${escapeLine(name)}/${escapeLine(container)}] ` : ''
  if (head === '' && !context.terminal.out) {
    for await (const chunk of body) await write(context, chunk)
    return
  }
  const escapeForTerminal = context.terminal.out ? escapeOutput : (text: string) => text
  for await (const line of linesOf(body)) await write(context, `${head}${escapeForTerminal(line)}`)
}

async function write({ out, drained }: Session['context'], data: string | Uint8Array): Promise<void> {
  out(data)
  await drained()
}

/** Maximum line length in bytes. Longer lines are printed in parts. */
const maxLine = 1024 * 1024

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield rest.slice(0, end + 1)
      rest = rest.slice(end + 1)
    }
    if (rest.length > maxLine) {
      yield rest
      rest = ''
    }
  }
  if (rest !== '') yield rest
}

function queryOf(container: string, options: Options): { [name: string]: string | number | boolean | undefined } {
  const tail = options.tail < 0 && options.selector !== '' ? 10 : options.tail
  return {
    container,
    ...(options.follow && { follow: true }),
    ...(options.previous && { previous: true }),
    ...(options.timestamps && { timestamps: true }),
    ...(tail >= 0 && { tailLines: tail }),
    ...(options.limitBytes > 0 && { limitBytes: options.limitBytes }),
    ...(options.since > 0 && { sinceSeconds: Math.ceil(options.since / 1000) }),
    ...(options.sinceTime !== '' && { sinceTime: options.sinceTime }),
    ...(options.insecureBackend && { insecureSkipTLSVerifyBackend: true }),
  }
}
