/** `orchctl run`: one pod that runs an image, and on request a service for it. */

import type { ApiObject } from '../../../api/model/object.ts'
import {
  flag,
  type OptionsOf,
  oneOf,
  readBoolean,
  repeated,
  text,
  toggle,
  UsageError,
} from '../../../base/flags/flags.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import { isImageReference } from '../arguments/image-reference.ts'
import { readCount } from '../arguments/numbers.ts'
import { readAmounts, readPairs, readVariable } from '../arguments/pairs.ts'
import { deletionFlags, deletionRequest, patienceOf } from '../changes/deletion.ts'
import { recordFlag } from '../changes/kept-notes.ts'
import { isGone, waitFor } from '../changes/wait-for.ts'
import { withTypedSession } from '../changes/without-nulls.ts'
import { connectionFlags, readTime } from '../connection/connection-flags.ts'
import type { Session } from '../connection/session.ts'
import { overrideTypeFlag } from '../patches/override-type.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand, ExitCode } from '../program/command.ts'
import { createObject, creationFlags } from './create/generator.ts'

const flags = {
  image: flag({ name: 'image', value: 'IMAGE', read: text, help: 'the image to run' }),
  port: flag({
    name: 'port',
    value: 'PORT',
    default: '0',
    read: readCount,
    help: 'the port that it listens on; 0: none',
  }),
  expose: toggle({ name: 'expose', help: 'also create a service for that port' }),
  env: repeated({ name: 'env', value: 'NAME=VALUE', read: text, help: 'a variable of the container' }),
  labels: flag({
    name: 'labels',
    letter: 'l',
    value: 'KEY=VALUE,...',
    read: text,
    help: 'the labels of the pod; else run=NAME',
  }),
  annotations: repeated({ name: 'annotations', value: 'KEY=VALUE', read: text, help: 'an annotation of the pod' }),
  restart: flag({
    name: 'restart',
    value: 'POLICY',
    default: 'Always',
    read: oneOf(['Always', 'OnFailure', 'Never']),
    help: 'what happens when the container ends: Always, OnFailure or Never',
  }),
  command: toggle({ name: 'command', help: 'what stands after -- is the command itself, and not its arguments' }),
  imagePullPolicy: flag({
    name: 'image-pull-policy',
    value: 'POLICY',
    read: text,
    help: 'when the image is fetched: Always, IfNotPresent, Never',
  }),
  limits: flag({
    name: 'limits',
    value: 'WHAT=AMOUNT,...',
    read: text,
    help: 'how much it may have: cpu=200m,memory=512Mi',
  }),
  requests: flag({ name: 'requests', value: 'WHAT=AMOUNT,...', read: text, help: 'how much it needs' }),
  serviceAccount: flag({ name: 'serviceaccount', value: 'NAME', read: text, help: 'the service account of the pod' }),
  hostPort: flag({
    name: 'hostport',
    value: 'PORT',
    default: '0',
    read: readCount,
    help: 'the port of its node that leads to --port; 0: none',
  }),
  privileged: toggle({ name: 'privileged', help: 'the container may do everything that its node can' }),
  overrides: flag({
    name: 'overrides',
    value: 'JSON',
    read: text,
    help: 'what else the pod shall have, merged into it: {"spec": ...}',
  }),
  serviceOverrides: flag({
    name: 'service-overrides',
    value: 'JSON',
    read: text,
    help: 'with --expose: the same for the service',
  }),
  overrideType: overrideTypeFlag,
  stdin: toggle({
    name: 'stdin',
    letter: 'i',
    help: 'keep the standard input of the container open, and pass ours on',
  }),
  tty: toggle({ name: 'tty', letter: 't', help: 'give it a terminal' }),
  attach: flag({ name: 'attach', read: readOptional, help: 'show what it prints; on with -i' }),
  leaveStdinOpen: toggle({ name: 'leave-stdin-open', help: 'its standard input stays open when we have left' }),
  quiet: toggle({ name: 'quiet', letter: 'q', help: 'only print what the program prints' }),
  rm: toggle({ name: 'rm', help: 'delete the pod when we leave it: with -i or --attach' }),
  podRunningTimeout: flag({
    name: 'pod-running-timeout',
    value: 'TIME',
    default: '1m',
    read: readTime,
    help: 'how long to wait until it runs',
  }),
  ...deletionFlags,
  wait: toggle({ name: 'wait', help: 'with --rm: wait until the pod is gone' }),
  force: toggle({ name: 'force', help: 'with --rm: delete the pod at once, without waiting for its node' }),
  ...creationFlags,
  record: recordFlag,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const runCommand = defineCommand({
  name: 'run',
  forms: ['NAME --image=IMAGE [flags] [-- ARGUMENT...]'],
  about: 'Creates a pod that runs an image.',
  examples: [
    'orchctl run web --image=nginx --port=80 --expose',
    'orchctl run once --image=busybox --restart=Never --command -- date',
    'orchctl run -it --rm shell --image=busybox --restart=Never -- sh',
    'orchctl run web --image=nginx --dry-run=client -o yaml',
  ],
  flags,
  run: async (context, { options, words }) => {
    const [name, ...args] = words
    if (options.image === '') throw new UsageError('required flag(s) "image" not set')
    if (!isImageReference(options.image))
      throw new UsageError(`Invalid image name ${JSON.stringify(options.image)}: invalid reference format`)
    if (name === undefined) throw new UsageError('NAME is required for run')
    if (options.expose && options.port === 0) throw new UsageError('--port must be set when exposing a service')
    checkTogether(options)
    await withTypedSession(context, options, async (session) => {
      const place = session.namespaceGiven ? { namespace: session.namespace } : {}
      const pod = await withOverrides(podOf({ name, ...place }, options, args), options)
      const service = await withOverrides(serviceOf(pod, options.port), {
        ...options,
        overrides: options.serviceOverrides,
      })
      // The pod first: one that is refused leaves no service behind. What is said comes in the order of kubectl.
      const said = await createObject(session, pod, { options, index: options.expose ? 1 : 0 })
      if (options.expose) context.out(await createObject(session, service, { options }))
      if (!joins(options) || options.dryRun !== 'none') return context.out(said)
      await follow(session, pod, options)
    })
  },
})

function readOptional(value: string): boolean | undefined {
  return value === '' ? undefined : readBoolean(value)
}

function joins({ attach, stdin }: Options): boolean {
  return attach ?? stdin
}

function checkTogether(options: Options): void {
  if (options.tty && !options.stdin) throw new UsageError('-i/--stdin is required for containers with -t/--tty=true')
  if (options.rm && !joins(options)) throw new UsageError('--rm should only be used for attached containers')
  if (options.rm && options.dryRun !== 'none') throw new UsageError('--rm and --dry-run cannot be used together')
}

async function withOverrides(pod: ApiObject, options: Options): Promise<ApiObject> {
  if (options.overrides === '') return pod
  const { readOverrides } = await import('../patches/overrides.ts')
  return await readOverrides(pod, options)
}

/** Joins the program, and with --rm takes the pod away, whatever became of the program. */
async function follow(session: Session, pod: ApiObject, options: Options): Promise<void> {
  const { joinContainer } = await import('./pods/join.ts')
  const name = pod.metadata.name ?? ''
  try {
    const { stdin, tty, quiet, podRunningTimeout: timeout } = options
    await joinContainer(session, pod, { container: name, stdin, tty, quiet, timeout })
    if (options.restart !== 'Always') await tellEnd(session, name, timeout)
  } finally {
    if (options.rm) await remove(session, name, options)
  }
}

/** The exit code of the program is that of the command. */
async function tellEnd(session: Session, name: string, timeoutMs: number): Promise<void> {
  const place = { namespace: session.namespace, name }
  let last: Ended | undefined
  const until = (object: Ended | undefined) => {
    last = object
    return object === undefined || object.status?.phase === 'Succeeded' || object.status?.phase === 'Failed'
  }
  await waitFor(session, { type: await session.types.named('pods'), name: place }, { until, timeoutMs })
  const { exitCode = 0, reason = 'Error' } = last?.status?.containerStatuses?.[0]?.state?.terminated ?? {}
  if (exitCode === 0) return
  session.context.err(`pod ${escapeLine(`${place.namespace}/${name}`)} terminated (${escapeLine(reason)})\n`)
  throw new ExitCode(exitCode)
}

interface Ended extends ApiObject {
  readonly status?: {
    readonly phase?: string
    readonly containerStatuses?: readonly {
      readonly state?: { readonly terminated?: { readonly exitCode?: number; readonly reason?: string } }
    }[]
  }
}

async function remove(session: Session, name: string, options: Options): Promise<void> {
  const { client, context, namespace } = session
  const place = { namespace, name }
  const how = deletionRequest(options.force ? { ...options, gracePeriod: 0 } : options)
  await client.delete(kinds.Pod, place, { ...how, signal: AbortSignal.timeout(patienceMs) }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  if (!options.quiet) context.out(`pod ${JSON.stringify(name)} deleted\n`)
  if (!options.wait || context.signal.aborted) return
  const subject = { type: await session.types.named('pods'), name: place }
  await waitFor(session, subject, { until: isGone(undefined), timeoutMs: patienceOf(options) }).catch((error) => {
    throw error instanceof UsageError
      ? new UsageError(`timed out waiting until pod ${JSON.stringify(name)} is gone`)
      : error
  })
}

/** For one request: also after Ctrl-C nothing is left behind. */
const patienceMs = 10_000

function podOf(metadata: { name: string; namespace?: string }, options: Options, args: readonly string[]): ApiObject {
  const { image, port, env, labels, annotations, restart, command, serviceAccount } = options
  const amounts = {
    ...(options.limits && { limits: readAmounts(options.limits, '--limits') }),
    ...(options.requests && { requests: readAmounts(options.requests, '--requests') }),
  }
  const container = {
    name: metadata.name,
    image,
    ...(options.imagePullPolicy && { imagePullPolicy: options.imagePullPolicy }),
    ...(args.length > 0 && (command ? { command: args } : { args })),
    ...(env.length > 0 && { env: env.map((pair) => readVariable(pair, '--env')) }),
    ...(port > 0 && { ports: [{ containerPort: port, ...(options.hostPort > 0 && { hostPort: options.hostPort }) }] }),
    ...(options.privileged && { securityContext: { privileged: true } }),
    ...(options.stdin && { stdin: true, ...(!options.leaveStdinOpen && { stdinOnce: true }) }),
    ...(options.tty && { tty: true }),
    ...(Object.keys(amounts).length > 0 && { resources: amounts }),
  }
  const spec = {
    containers: [container],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: restart,
    ...(serviceAccount && { serviceAccountName: serviceAccount }),
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      labels: labels === '' ? { run: metadata.name } : readPairs(labels, '--labels'),
      ...(annotations.length > 0 && { annotations: readPairs(annotations.join(','), '--annotations') }),
    },
    spec,
  } as ApiObject
}

function serviceOf({ metadata }: ApiObject, port: number): ApiObject {
  const { labels, annotations: _, ...rest } = metadata
  const spec = { ports: [{ port, protocol: 'TCP', targetPort: port }], selector: labels }
  return { apiVersion: 'v1', kind: 'Service', metadata: rest, spec } as ApiObject
}
