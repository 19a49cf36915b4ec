/** Implements `orchctl create deployment`, `job` and `cronjob`. */

import type { ApiObject } from '../../../../api/model/object.ts'
import { flag, repeated, text, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { readCount } from '../../arguments/numbers.ts'
import { defineGenerator, type Invocation } from './generator.ts'

const image = flag({ name: 'image', value: 'IMAGE', read: text, help: 'image to run' })

export const createDeploymentCommand = defineGenerator({
  name: 'deployment',
  form: '--image=IMAGE [flags] [-- COMMAND [ARGUMENT...]]',
  about: 'Create a deployment that runs one or more images.',
  examples: [
    'orchctl create deployment web --image=nginx --replicas=3 --port=80',
    'orchctl create deployment idle --image=busybox -- sleep 3600',
  ],
  flags: {
    image: repeated({ name: 'image', value: 'IMAGE', read: text, help: 'image to run' }),
    replicas: flag({
      name: 'replicas',
      letter: 'r',
      value: 'NUMBER',
      default: '1',
      read: readCount,
      help: 'number of replicas',
    }),
    port: flag({
      name: 'port',
      value: 'PORT',
      default: '0',
      read: readCount,
      help: 'port of the container, or of the first container if there are several images; 0 for none',
    }),
  },
  type: kinds.Deployment,
  make: ({ image, replicas, port }, { name, words }) => {
    const images = image.flatMap((names) => names.split(','))
    if (images.length === 0) throw new UsageError('required flag(s) "image" not set')
    if (images.length > 1 && words.length > 0)
      throw new UsageError('cannot specify multiple --image options and command')
    const labels = { app: name }
    const containers = images.map((each, i) => ({
      name: containerName(each),
      image: each,
      ...(port === 0 || i > 0 ? {} : { ports: [{ containerPort: port }] }),
      ...(words.length === 0 ? {} : { command: words }),
    }))
    const template = { metadata: { labels }, spec: { containers } }
    return { metadata: { name, labels }, spec: { replicas, selector: { matchLabels: labels }, template } }
  },
})

/** Returns `my-app` for `registry.example.com/a/my.app:1.2`. */
function containerName(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1)
  return last.split(/[:@]/)[0]!.replaceAll(/[_.]/g, '-')
}

export const createJobCommand = defineGenerator({
  name: 'job',
  form: '(--image=IMAGE | --from=cronjob/NAME) [flags] [-- COMMAND [ARGUMENT...]]',
  about: 'Create a job that runs an image, or the template of a cron job, to completion.',
  examples: ['orchctl create job backup --image=busybox -- date', 'orchctl create job now --from=cronjob/nightly'],
  flags: {
    image,
    from: flag({
      name: 'from',
      value: 'cronjob/NAME',
      read: text,
      help: 'cron job to create the job from; the job starts immediately',
    }),
  },
  type: kinds.Job,
  make: async ({ image, from }, invocation) => {
    if ((image === '') === (from === '')) throw new UsageError('either --image or --from must be specified')
    if (from !== '') return await fromCronJob(from, invocation)
    return { spec: { template: { spec: { containers: [containerOf(image, invocation)], restartPolicy: 'Never' } } } }
  },
})

function containerOf(image: string, { name, words }: Invocation): object {
  return { name, image, ...(words.length === 0 ? {} : { command: words }) }
}

interface CronJob extends ApiObject {
  spec?: { jobTemplate?: { metadata?: { labels?: object; annotations?: { [key: string]: string } }; spec?: object } }
}

async function fromCronJob(from: string, { session, context, namespace }: Invocation) {
  const [word = '', name = ''] = from.split('/')
  const type = await session.types.typeNamed(word)
  if (type.kind !== 'CronJob' || name === '')
    throw new UsageError(`--from must be cronjob/NAME, not ${JSON.stringify(from)}`)
  const job = (await session.client.get(type, { namespace, name }, { signal: context.signal })) as CronJob
  const { metadata = {}, spec = {} } = job.spec?.jobTemplate ?? {}
  const { apiVersion, kind } = job
  const owner = { apiVersion, kind, name, uid: job.metadata.uid ?? '', controller: true }
  return {
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, 'cronjob/instantiate': 'manual' },
      ownerReferences: [owner],
    },
    spec,
  }
}

export const createCronJobCommand = defineGenerator({
  name: 'cronjob',
  form: '--image=IMAGE --schedule=SCHEDULE [flags] [-- COMMAND [ARGUMENT...]]',
  about: 'Create a cron job, which runs an image on a schedule.',
  examples: ["orchctl create cronjob nightly --image=busybox --schedule='0 3 * * *' -- date"],
  flags: {
    image,
    schedule: flag({
      name: 'schedule',
      value: 'SCHEDULE',
      read: text,
      help: "schedule in cron format, such as '0 3 * * *'",
    }),
    restart: flag({
      name: 'restart',
      value: 'Never|OnFailure',
      default: 'OnFailure',
      read: text,
      help: 'restart policy of the pods',
    }),
  },
  type: kinds.CronJob,
  make: ({ image, schedule, restart }, invocation) => {
    if (image === '') throw new UsageError('--image must be specified')
    if (schedule === '') throw new UsageError('--schedule must be specified')
    const template = { spec: { containers: [containerOf(image, invocation)], restartPolicy: restart } }
    return { spec: { schedule, jobTemplate: { metadata: { name: invocation.name }, spec: { template } } } }
  },
})
