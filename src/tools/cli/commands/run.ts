/** Implements `orchctl run`, which creates a pod that runs an image, and optionally a service for the pod. */

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
import { recordFlag } from '../changes/change-cause.ts'
import { deletionFlags, deletionRequest, patienceOf } from '../changes/deletion.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { isGone, waitFor } from '../changes/wait-for.ts'
import { connectionFlags, readTime } from '../connection/connection-flags.ts'
import type { Session } from '../connection/session.ts'
import { overrideTypeFlag } from '../patches/override-type.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand, ExitCode } from '../program/command.ts'
import { createObject, creationFlags } from './create/generator.ts'

const flags = {
  image: flag({ name: 'image', value: 'IMAGE', read: text, help: 'image to run' }),
  port: flag({
    name: 'port',
    value: 'PORT',
    default: '0',
    read: readCount,
    help: 'container port; 0 for none',
  }),
  expose: toggle({ name: 'expose', help: 'also create a service for --port' }),
  env: repeated({
    name: 'env',
    value: 'NAME=VALUE',
    read: text,
    help: 'environment variable to set in the container, as NAME=VALUE',
  }),
  labels: flag({
    name: 'labels',
    letter: 'l',
    value: 'KEY=VALUE,...',
    read: text,
    help: 'labels for the pod; default: run=NAME',
  }),
  annotations: repeated({ name: 'annotations', value: 'KEY=VALUE', read: text, help: 'annotation to add to the pod' }),
  restart: flag({
    name: 'restart',
    value: 'POLICY',
    default: 'Always',
    read: oneOf(['Always', 'OnFailure', 'Never']),
    help: 'restart policy of the pod: Always, OnFailure or Never',
  }),
  command: toggle({
    name: 'command',
    help: 'use the arguments after -- as the command of the container instead of as its arguments',
  }),
  imagePullPolicy: flag({
    name: 'image-pull-policy',
    value: 'POLICY',
    read: text,
    help: 'image pull policy: Always, IfNotPresent or Never',
  }),
  limits: flag({
    name: 'limits',
    value: 'WHAT=AMOUNT,...',
    read: text,
    help: 'resource limits, such as cpu=200m,memory=512Mi',
  }),
  requests: flag({
    name: 'requests',
    value: 'WHAT=AMOUNT,...',
    read: text,
    help: 'resource requests, such as cpu=100m,memory=256Mi',
  }),
  serviceAccount: flag({ name: 'serviceaccount', value: 'NAME', read: text, help: 'service account for the pod' }),
  hostPort: flag({
    name: 'hostport',
    value: 'PORT',
    default: '0',
    read: readCount,
    help: 'port on the node that is forwarded to the container port in --port; 0 for none',
  }),
  privileged: toggle({ name: 'privileged', help: 'run the container in privileged mode' }),
  overrides: flag({
    name: 'overrides',
    value: 'JSON',
    read: text,
    help: 'patch for the pod in JSON, such as {"spec": ...}',
  }),
  serviceOverrides: flag({
    name: 'service-overrides',
    value: 'JSON',
    read: text,
    help: 'JSON merge patch for the service that --expose creates',
  }),
  overrideType: overrideTypeFlag,
  stdin: toggle({
    name: 'stdin',
    letter: 'i',
    help: "keep the container's standard input open and connect it to the local standard input",
  }),
  tty: toggle({ name: 'tty', letter: 't', help: 'allocate a terminal' }),
  attach: flag({ name: 'attach', read: readOptional, help: 'attach to the running container; default: true with -i' }),
  leaveStdinOpen: toggle({
    name: 'leave-stdin-open',
    help: "keep the container's standard input open after the client detaches",
  }),
  quiet: toggle({
    name: 'quiet',
    letter: 'q',
    help: 'print only the output of the command, without messages from orchctl',
  }),
  rm: toggle({ name: 'rm', help: 'with -i or --attach: delete the pod on exit' }),
  podRunningTimeout: flag({
    name: 'pod-running-timeout',
    value: 'TIME',
    default: '1m',
    read: readTime,
    help: 'maximum time to wait for the pod to start running',
  }),
  ...deletionFlags,
  wait: toggle({ name: 'wait', help: 'with --rm: wait until the pod is deleted' }),
  force: toggle({ name: 'force', help: 'with --rm: delete the pod immediately, without waiting for its node' }),
  ...creationFlags,
  record: recordFlag,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const runCommand = defineCommand({
  name: 'run',
  forms: ['NAME --image=IMAGE [flags] [-- ARGUMENT...]'],
  about: 'Create a pod that runs an image.',
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
      // Creates the pod first, so that no service remains if the server rejects the pod. The messages have the same
      // order as in kubectl.
      const creationReport = await createObject(session, pod, { options, index: options.expose ? 1 : 0 })
      if (options.expose) context.out(await createObject(session, service, { options }))
      if (!joins(options) || options.dryRun !== 'none') return context.out(creationReport)
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

/** Attaches to the container. With --rm, deletes the pod afterwards, even after an error. */
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

/** Waits until the pod has terminated. If the exit code of its container is not 0, throws ExitCode with that code. */
async function tellEnd(session: Session, name: string, timeoutMs: number): Promise<void> {
  const place = { namespace: session.namespace, name }
  let last: Ended | undefined
  const until = (object: Ended | undefined) => {
    last = object
    return object === undefined || object.status?.phase === 'Succeeded' || object.status?.phase === 'Failed'
  }
  await waitFor(session, { type: await session.types.typeNamed('pods'), name: place }, { until, timeoutMs })
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
  const deletionOptions = deletionRequest(options.force ? { ...options, gracePeriod: 0 } : options)
  await client
    .delete(kinds.Pod, place, { ...deletionOptions, signal: AbortSignal.timeout(patienceMs) })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  if (!options.quiet) context.out(`pod ${JSON.stringify(name)} deleted\n`)
  if (!options.wait || context.signal.aborted) return
  const subject = { type: await session.types.typeNamed('pods'), name: place }
  await waitFor(session, subject, { until: isGone(undefined), timeoutMs: patienceOf(options) }).catch((error) => {
    throw error instanceof UsageError
      ? new UsageError(`timed out waiting until pod ${JSON.stringify(name)} is gone`)
      : error
  })
}

/** Timeout in milliseconds for deleting the pod, which is deleted even after Ctrl-C. */
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
