/** Implements `orchctl debug`, which adds a debugging container to a running pod or to a copy of the pod. */

import { randomBytes } from 'node:crypto'
import { own } from '../../../../api/json/json.ts'
import {
  flag,
  type OptionsOf,
  readBoolean,
  refusedFlag,
  repeated,
  text,
  toggle,
  UsageError,
} from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { readPairs, readVariable } from '../../arguments/pairs.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { connectionFlags, readTime } from '../../connection/connection-flags.ts'
import { objectNameIn, type Session } from '../../connection/session.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import type { Container, Pod } from '../../streaming/pods.ts'
import { joinContainer } from './join.ts'

const flags = {
  image: flag({ name: 'image', value: 'IMAGE', read: text, help: 'container image' }),
  container: flag({
    name: 'container',
    letter: 'c',
    value: 'NAME',
    read: text,
    help: 'name of the new container; with --copy-to, name of the container to change; default: a generated name',
  }),
  target: flag({
    name: 'target',
    value: 'NAME',
    read: text,
    help: 'existing container whose processes the debug container can see',
  }),
  containerProfile: refusedFlag(
    'profile',
    'debugging profiles are not implemented: the image and the pod define the container',
    {
      value: 'NAME',
      accepted: 'legacy',
    },
  ),
  copyTo: flag({
    name: 'copy-to',
    value: 'NAME',
    read: text,
    help: 'debug a copy of the pod with this name instead of the pod itself',
  }),
  imagePullPolicy: flag({
    name: 'image-pull-policy',
    value: 'POLICY',
    read: text,
    help: 'image pull policy: Always, IfNotPresent or Never',
  }),
  argumentsOnly: toggle({
    name: 'arguments-only',
    help: 'use the arguments after -- as the arguments of the container instead of as its command',
  }),
  replace: toggle({ name: 'replace', help: 'with --copy-to: delete the original pod first' }),
  sameNode: toggle({ name: 'same-node', help: 'with --copy-to: schedule the copy on the same node' }),
  setImage: flag({
    name: 'set-image',
    value: 'CONTAINER=IMAGE,...',
    read: text,
    help: 'with --copy-to: new container images, as NAME=IMAGE; the name * selects all containers',
  }),
  shareProcesses: flag({
    name: 'share-processes',
    default: 'true',
    read: readBoolean,
    help: 'with --copy-to: share one process namespace among the containers of the copy',
  }),
  env: repeated({
    name: 'env',
    value: 'NAME=VALUE',
    read: text,
    help: 'environment variable to set in the container, as NAME=VALUE',
  }),
  attach: flag({
    name: 'attach',
    read: (value) => (value === '' ? undefined : readBoolean(value)),
    help: 'attach to the container as soon as it is running; default: true with -i',
  }),
  stdin: toggle({ name: 'stdin', letter: 'i', help: 'send standard input to the container' }),
  tty: toggle({ name: 'tty', letter: 't', help: 'allocate a terminal' }),
  quiet: toggle({
    name: 'quiet',
    letter: 'q',
    help: 'print only the output of the command, without messages from orchctl',
  }),
  timeout: flag({
    name: 'timeout',
    value: 'TIME',
    default: '1m',
    read: readTime,
    help: 'maximum time to wait for the container to start',
  }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const debugCommand = defineCommand({
  name: 'debug',
  forms: [
    'POD --image=IMAGE [flags] [-- COMMAND [arguments]]',
    'node/NODE --image=IMAGE [flags] [-- COMMAND [arguments]]',
  ],
  about: `Add an ephemeral container to a running pod. With --copy-to, debug a copy of the pod instead. For a node, create a
pod that shares the node's process and network namespaces, with the node's files at /host. With -i, attach to the new
container.`,
  examples: [
    'orchctl debug -it web --image=busybox --target=app',
    'orchctl debug web --image=busybox --copy-to=web-debug',
    'orchctl debug web --copy-to=web-debug --set-image=*=busybox',
    'orchctl debug node/one -it --image=busybox',
  ],
  flags,
  run: async (context, { options, words }) => {
    const [target, ...command] = words
    if (target === undefined) throw new UsageError('specify a pod to debug')
    const isNode = /^(?:no|nodes?)\//.test(target)
    if (target.includes('/') && !isNode && !/^(?:po|pods?)\//.test(target))
      throw new UsageError('only pods and nodes can be debugged: specify a pod, or node/NAME')
    checkTogether(options)
    if (isNode) checkForNode(options)
    await withTypedSession(context, options, async (session) => {
      const name = target.replace(/^[^/]*\//, '')
      const container = containerOf(session, { options, command, isNode })
      const debugged = isNode
        ? await visitNode(session, name, { container, options })
        : await debugPod(session, name, { container, options })
      if (options.attach ?? options.stdin)
        await joinContainer(session, debugged, { ...options, container: container.name })
    })
  },
})

function checkTogether({
  image,
  setImage,
  copyTo,
  replace,
  sameNode,
  argumentsOnly,
  tty,
  stdin,
  attach,
}: Options): void {
  if (image === '' && setImage === '') throw new UsageError('you must specify --image or --set-image')
  if (copyTo === '' && (replace || sameNode || setImage !== ''))
    throw new UsageError('--replace, --same-node and --set-image require --copy-to')
  if (argumentsOnly && copyTo === '' && image === '') throw new UsageError('--arguments-only requires --image')
  if (image === '' && (stdin || attach))
    throw new UsageError('-i and --attach require --image, the image of the new container')
  if (tty && !stdin) throw new UsageError('-i/--stdin is required for containers with -t/--tty=true')
}

function checkForNode({ image, copyTo, target }: Options): void {
  if (image === '') throw new UsageError('you must specify --image')
  if (copyTo !== '' || target !== '') throw new UsageError('--copy-to and --target can only be used with pods')
}

interface Debugging {
  readonly container: DebugContainer
  readonly options: Options
}

async function debugPod(session: Session, name: string, debugging: Debugging): Promise<Pod> {
  const { signal } = session.context
  const pod = await session.client.get(kinds.Pod, objectNameIn(session, kinds.Pod, name), { signal })
  if (debugging.options.copyTo !== '') return await copy(session, pod, debugging)
  return await addTo(session, pod, debugging.container)
}

/** Creates a pod that runs in the host namespaces of the node. */
async function visitNode({ client, context, namespace }: Session, node: string, debugging: Debugging): Promise<Pod> {
  await client.get(kinds.Node, { name: node }, { signal: context.signal })
  const name = `node-debugger-${node}-${randomBytes(3).toString('hex').slice(0, 5)}`.slice(-253)
  const { container, options } = debugging
  const spec = {
    nodeName: node,
    hostIPC: true,
    hostNetwork: true,
    hostPID: true,
    restartPolicy: 'Never',
    tolerations: [{ operator: 'Exists' }],
    containers: [{ ...container, volumeMounts: [{ name: 'host-root', mountPath: '/host' }] }],
    volumes: [{ name: 'host-root', hostPath: { path: '/' } }],
  }
  const createdPod = await client.create(kinds.Pod, { metadata: { name, namespace }, spec } as unknown as kinds.Pod, {
    signal: context.signal,
  })
  if (!options.quiet)
    context.out(
      `Creating debugging pod ${name} with container ${escapeLine(container.name)} on node ${escapeLine(node)}.\n`,
    )
  return createdPod
}

interface DebugContainer {
  readonly name: string
  readonly image: string
  readonly [field: string]: unknown
}

function containerOf(
  { context }: Session,
  { options, command, isNode }: { options: Options; command: readonly string[]; isNode: boolean },
): DebugContainer {
  // The container for debugging a node is the only container of its pod, so its name needs no random suffix.
  const defaultName = isNode ? 'debugger' : `debugger-${randomBytes(3).toString('hex').slice(0, 5)}`
  const name = options.container || defaultName
  if (options.container === '' && options.image !== '' && !isNode && !options.quiet)
    context.err(`Defaulting debug container name to ${name}.\n`)
  const env = options.env.map((pair) => readVariable(pair, '--env'))
  return {
    name,
    image: options.image,
    imagePullPolicy: options.imagePullPolicy || 'IfNotPresent',
    terminationMessagePolicy: 'File',
    ...(env.length > 0 && { env }),
    ...(command.length > 0 && (options.argumentsOnly ? { args: command } : { command })),
    ...(options.stdin && { stdin: true }),
    ...(options.tty && { tty: true }),
    ...(options.target !== '' && options.copyTo === '' && { targetContainerName: options.target }),
  }
}

async function addTo({ client, context }: Session, pod: Pod, container: DebugContainer): Promise<Pod> {
  const { name = '', namespace = '' } = pod.metadata
  return await client.patch(
    kinds.Pod,
    { namespace, name },
    {
      patch: { strategic: { spec: { ephemeralContainers: [container] } } },
      subresource: 'ephemeralcontainers',
      signal: context.signal,
    },
  )
}

function withImage(container: Container, images: { readonly [name: string]: string }): Container {
  const image = own(images, container.name ?? '') ?? own(images, '*')
  return image === undefined ? container : ({ ...container, image } as Container)
}

/** Adds a container. If a container with the same name exists, sets its image, command and variables instead. */
function withContainer(others: readonly Container[], container: DebugContainer, options: Options): Container[] {
  if (!others.some(({ name }) => name === container.name)) return [...others, container]
  const { imagePullPolicy: _, terminationMessagePolicy: __, ...changes } = container
  const policy = options.imagePullPolicy === '' ? {} : { imagePullPolicy: options.imagePullPolicy }
  const noArguments = 'command' in changes ? { args: undefined } : {}
  return others.map((one) => (one.name === container.name ? { ...one, ...noArguments, ...changes, ...policy } : one))
}

async function copy({ client, context }: Session, pod: Pod, { container, options }: Debugging): Promise<Pod> {
  const { namespace = '', name = '', annotations } = pod.metadata
  const {
    nodeName,
    ephemeralContainers: _,
    ...spec
  } = (pod.spec ?? {}) as NonNullable<Pod['spec']> & { nodeName?: string }
  const images = options.setImage === '' ? {} : readPairs(options.setImage, '--set-image', 'CONTAINER=IMAGE')
  const others = (spec.containers ?? []).map((one) => withImage(one, images))
  const draft = {
    metadata: { name: options.copyTo, namespace, ...(annotations && { annotations }) },
    spec: {
      ...spec,
      ...(options.sameNode && nodeName !== undefined && { nodeName }),
      ...(options.shareProcesses && options.image !== '' && { shareProcessNamespace: true }),
      containers: options.image === '' ? others : withContainer(others, container, options),
    },
  }
  if (options.replace) await client.delete(kinds.Pod, { namespace, name }, { signal: context.signal })
  const createdPod = await client.create(kinds.Pod, draft as kinds.Pod, { signal: context.signal })
  if (!options.quiet) context.out(`pod/${escapeLine(options.copyTo)} created\n`)
  return createdPod
}
