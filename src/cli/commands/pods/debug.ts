/** `orchctl debug`: a container for looking around, added to a running pod or to a copy of it. */
import { randomBytes } from 'node:crypto'
import { flag, type OptionsOf, repeated, text, toggle, UsageError } from '../../../base/flags.ts'
import { defineCommand } from '../../command.ts'
import { connectionFlags, readTime } from '../../connection-flags.ts'
import { escapeLine } from '../../printers/escape.ts'
import { placeOf, type Session, withSession } from '../../session.ts'
import { type Pod, podType } from '../../streaming/pods.ts'
import { joinContainer } from './join.ts'

const flags = {
  image: flag('image', 'IMAGE', '', text, 'the image of the container'),
  container: flag('c,container', 'NAME', '', text, 'the name of the new container; else one is made up'),
  target: flag('target', 'NAME', '', text, 'the container whose processes it sees'),
  copyTo: flag('copy-to', 'NAME', '', text, 'in a copy of the pod with this name, and not in the pod itself'),
  env: repeated('env', 'NAME=VALUE', text, 'a variable of the container'),
  attach: toggle('attach', 'show what it prints, also without -i'),
  stdin: toggle('i,stdin', 'pass the standard input on'),
  tty: toggle('t,tty', 'give it a terminal'),
  quiet: toggle('q,quiet', 'only print what the program prints'),
  timeout: flag('timeout', 'TIME', '1m', readTime, 'how long to wait until the container runs'),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const debugCommand = defineCommand({
  name: 'debug',
  forms: ['POD --image=IMAGE [flags] [-- COMMAND [arguments]]'],
  about: `Adds a container to a running pod (an ephemeral container), or to a copy of the pod, and with -i joins it.`,
  examples: [
    'orchctl debug -it web --image=busybox --target=app',
    'orchctl debug web --image=busybox --copy-to=web-debug',
  ],
  flags,
  run: async (context, { options, words }) => {
    const [target, ...command] = words
    if (target === undefined) throw new UsageError('name a pod to debug')
    if (target.includes('/') && !/^(?:po|pods?)\//.test(target))
      throw new UsageError('only pods are debugged here: name a pod')
    if (options.image === '') throw new UsageError('you must specify --image')
    if (options.tty && !options.stdin) throw new UsageError('-i/--stdin is required for containers with -t/--tty=true')
    await withSession(context, options, async (session) => {
      const name = target.replace(/^[^/]*\//, '')
      const pod = await session.client.get(podType, placeOf(session, podType, name), { signal: context.signal })
      const container = containerOf(session, { options, command })
      const debugged =
        options.copyTo === '' ? await addTo(session, pod, container) : await copy(session, pod, { container, options })
      if (options.stdin || options.attach)
        await joinContainer(session, debugged, { ...options, container: container.name })
    })
  },
})

interface DebugContainer {
  readonly name: string
  readonly image: string
  readonly [field: string]: unknown
}

function containerOf(
  { context }: Session,
  { options, command }: { options: Options; command: readonly string[] },
): DebugContainer {
  const name = options.container || `debugger-${randomBytes(3).toString('hex').slice(0, 5)}`
  if (options.container === '' && !options.quiet) context.err(`Defaulting debug container name to ${name}.\n`)
  const env = options.env.map((pair) => {
    const equals = pair.indexOf('=')
    if (equals <= 0) throw new UsageError(`${JSON.stringify(pair)} is not NAME=VALUE`)
    return { name: pair.slice(0, equals), value: pair.slice(equals + 1) }
  })
  return {
    name,
    image: options.image,
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePolicy: 'File',
    ...(env.length > 0 && { env }),
    ...(command.length > 0 && { command }),
    ...(options.stdin && { stdin: true }),
    ...(options.tty && { tty: true }),
    ...(options.target !== '' && options.copyTo === '' && { targetContainerName: options.target }),
  }
}

async function addTo({ client, context }: Session, pod: Pod, container: DebugContainer): Promise<Pod> {
  const { name = '', namespace = '' } = pod.metadata
  return await client.patch(
    podType,
    { namespace, name },
    {
      patch: { strategic: { spec: { ephemeralContainers: [container] } } },
      subresource: 'ephemeralcontainers',
      signal: context.signal,
    },
  )
}

async function copy(
  { client, context }: Session,
  pod: Pod,
  { container, options }: { container: DebugContainer; options: Options },
): Promise<Pod> {
  const { namespace = '', annotations } = pod.metadata
  const {
    nodeName: _,
    ephemeralContainers: _1,
    ...spec
  } = (pod.spec ?? {}) as NonNullable<Pod['spec']> & { nodeName?: string }
  const draft = {
    metadata: { name: options.copyTo, namespace, ...(annotations && { annotations }) },
    spec: {
      ...spec,
      ...(options.target !== '' && { shareProcessNamespace: true }),
      containers: [...(spec.containers ?? []), container],
    },
  }
  const made = await client.create(podType, draft as Pod, { signal: context.signal })
  if (!options.quiet) context.out(`pod/${escapeLine(options.copyTo)} created\n`)
  return made
}
