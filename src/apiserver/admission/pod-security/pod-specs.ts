/** Where a pod is described: in itself, or in the template of a kind that makes pods. */
import { daemonSet } from '../../../api/kinds/apps/daemon-set.ts'
import { deployment } from '../../../api/kinds/apps/deployment.ts'
import { replicaSet } from '../../../api/kinds/apps/replica-set.ts'
import { statefulSet } from '../../../api/kinds/apps/stateful-set.ts'
import { cronJob } from '../../../api/kinds/batch/cron-job.ts'
import { job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { podTemplate } from '../../../api/kinds/core/pod-template.ts'
import { replicationController } from '../../../api/kinds/core/replication-controller.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import type { PodTemplateSpec } from '../../../api/kinds/core/types/pod-template-spec.ts'
import type { StoredType } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { KindOf } from '../../../api/schema/kind.ts'

interface Maker extends StoredType<unknown> {
  /** Is asked about objects of its own kind alone. */
  templateOf(object: ApiObject): PodTemplateSpec | undefined
}

/** Kinds that make pods, and where their template is. */
const makers: readonly Maker[] = [
  maker(podTemplate, ({ template }) => template),
  maker(replicationController, ({ spec }) => spec?.template),
  maker(daemonSet, ({ spec }) => spec?.template),
  maker(deployment, ({ spec }) => spec?.template),
  maker(replicaSet, ({ spec }) => spec?.template),
  maker(statefulSet, ({ spec }) => spec?.template),
  maker(job, ({ spec }) => spec?.template),
  maker(cronJob, ({ spec }) => spec?.jobTemplate?.spec?.template),
]

function maker<T>({ group, plural }: KindOf<T>, templateOf: (object: T) => PodTemplateSpec | undefined) {
  return { group, plural, templateOf }
}

/** The kinds whose objects make pods. */
export const makerTypes = makers.map(({ group, plural }) => ({ group, plural }))

export interface DescribedPod {
  readonly annotations: { readonly [key: string]: string }
  readonly spec: PodSpec
}

export function podIn({ metadata, spec = {} }: Pod): DescribedPod {
  return { annotations: metadata.annotations ?? {}, spec }
}

/** The pod that an object of the kind would make; undefined where it has no template. */
export function templateIn(plural: string, object: ApiObject): DescribedPod | undefined {
  const template = makers.find((maker) => maker.plural === plural)?.templateOf(object)
  if (template?.spec === undefined) return undefined
  return { annotations: template.metadata?.annotations ?? {}, spec: template.spec }
}
