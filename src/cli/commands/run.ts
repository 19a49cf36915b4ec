/** `orchctl run`: one pod that runs an image, and on request a service for it. */
import { flag, type OptionsOf, oneOf, repeated, text, toggle, UsageError } from '../../base/flags.ts'
import type { ApiObject } from '../../model/object.ts'
import { defineCommand } from '../command.ts'
import { connectionFlags } from '../connection-flags.ts'
import { readCount } from '../numbers.ts'
import { readPairs } from '../pairs.ts'
import { withSession } from '../session.ts'
import { writeFlags } from '../writing.ts'
import { createObject } from './create/generator.ts'

const flags = {
  image: flag('image', 'IMAGE', '', text, 'the image to run'),
  port: flag('port', 'PORT', '0', readCount, 'the port that it listens on; 0: none'),
  expose: toggle('expose', 'also create a service for that port'),
  env: repeated('env', 'NAME=VALUE', text, 'a variable of the container'),
  labels: flag('l,labels', 'KEY=VALUE,...', '', text, 'the labels of the pod; else run=NAME'),
  annotations: repeated('annotations', 'KEY=VALUE', text, 'an annotation of the pod'),
  restart: flag(
    'restart',
    'POLICY',
    'Always',
    oneOf(['Always', 'OnFailure', 'Never']),
    'what happens when the container ends: Always, OnFailure or Never',
  ),
  command: toggle('command', 'what stands after -- is the command itself, and not its arguments'),
  imagePullPolicy: flag(
    'image-pull-policy',
    'POLICY',
    '',
    text,
    'when the image is fetched: Always, IfNotPresent, Never',
  ),
  limits: flag('limits', 'WHAT=AMOUNT,...', '', text, 'how much it may have: cpu=200m,memory=512Mi'),
  requests: flag('requests', 'WHAT=AMOUNT,...', '', text, 'how much it needs'),
  serviceAccount: flag('serviceaccount', 'NAME', '', text, 'the service account of the pod'),
  ...writeFlags,
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
    'orchctl run web --image=nginx --dry-run=client -o yaml',
  ],
  flags,
  run: async (context, { options, words }) => {
    const [name, ...args] = words
    if (options.image === '') throw new UsageError('required flag(s) "image" not set')
    if (/\s/.test(options.image)) throw new UsageError(`Invalid image name ${JSON.stringify(options.image)}`)
    if (name === undefined) throw new UsageError('NAME is required for run')
    if (options.expose && options.port === 0) throw new UsageError('--port must be set when exposing a service')
    await withSession(context, options, async (session) => {
      const place = session.namespaceGiven ? { namespace: session.namespace } : {}
      const pod = podOf({ name, ...place }, options, args)
      // The pod first: one that is refused leaves no service behind. What is said comes in the order of kubectl.
      const said = await createObject(session, pod, { options, index: options.expose ? 1 : 0 })
      if (options.expose) context.out(await createObject(session, serviceOf(pod, options.port), { options }))
      context.out(said)
    })
  },
})

function podOf(metadata: { name: string; namespace?: string }, options: Options, args: readonly string[]): ApiObject {
  const { image, port, env, labels, annotations, restart, command, serviceAccount } = options
  const amounts = {
    ...(options.limits && { limits: readPairs(options.limits, '--limits', 'WHAT=AMOUNT') }),
    ...(options.requests && { requests: readPairs(options.requests, '--requests', 'WHAT=AMOUNT') }),
  }
  const container = {
    name: metadata.name,
    image,
    ...(options.imagePullPolicy && { imagePullPolicy: options.imagePullPolicy }),
    ...(args.length > 0 && (command ? { command: args } : { args })),
    ...(env.length > 0 && { env: env.map(readVariable) }),
    ...(port > 0 && { ports: [{ containerPort: port }] }),
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

function readVariable(pair: string): { name: string; value: string } {
  const equals = pair.indexOf('=')
  if (equals <= 0) throw new UsageError(`--env: ${JSON.stringify(pair)} is not NAME=VALUE`)
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1) }
}

function serviceOf({ metadata }: ApiObject, port: number): ApiObject {
  const { labels, annotations: _, ...rest } = metadata
  const spec = { ports: [{ port, protocol: 'TCP', targetPort: port }], selector: labels }
  return { apiVersion: 'v1', kind: 'Service', metadata: rest, spec } as ApiObject
}
