/** Finds the pod spec of an object: the spec of a pod, or the spec in a pod template. */
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
  /** Returns an object's pod template. The object must be of the kind that this entry describes. */
  templateOf(object: ApiObject): PodTemplateSpec | undefined
}

/** The kinds that have a pod template, with the location of the template. */
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

/** Resource types with a pod template. */
export const makerTypes = makers.map(({ group, plural }) => ({ group, plural }))

export interface DescribedPod {
  readonly annotations: { readonly [key: string]: string }
  readonly spec: PodSpec
}

export function podIn({ metadata, spec = {} }: Pod): DescribedPod {
  return { annotations: metadata.annotations ?? {}, spec }
}

/**
 * Returns the pod that an object such as a Deployment would create. Returns undefined if the object contains no pod
 * template.
 */
export function templateIn(plural: string, object: ApiObject): DescribedPod | undefined {
  const template = makers.find((maker) => maker.plural === plural)?.templateOf(object)
  if (template?.spec === undefined) return undefined
  return { annotations: template.metadata?.annotations ?? {}, spec: template.spec }
}
