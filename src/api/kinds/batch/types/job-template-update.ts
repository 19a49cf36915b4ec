/**
 * Rules for updating the pod template of a Job. The template is immutable, with one exception: while a Job is suspended
 * and has no active pods, the settings that determine where its pods run may change. Since 1.35, the resources of its
 * pods may also change.
 */
import type { FieldError } from '../../../model/field-error.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import type { Container } from '../../core/types/container.ts'
import type { PodTemplateSpec } from '../../core/types/pod-template-spec.ts'
import { immutableField } from '../../immutable.ts'
import type { JobSpec } from './job-spec.ts'
import type { JobStatus } from './job-status.ts'

interface StoredJob {
  spec?: JobSpec
  status?: JobStatus
}

export function checkTemplateUpdate({ template: next = {} }: JobSpec, previous: StoredJob, context: RuleContext) {
  const { gates } = emulationOf(context)
  let template = previous.spec?.template ?? {}
  if (isInactive(previous, { evenIfStarted: gates.has('MutableSchedulingDirectivesForSuspendedJobs') }))
    template = withDirectivesOf(next, template)
  if (!gates.has('MutablePodResourcesForSuspendedJobs') || !isInactive(previous, { evenIfStarted: true }))
    return immutableField('spec.template', next, template)
  return checkParts(next, withResourcesOf(next, template))
}

/**
 * Whether a Job is suspended and has no active pods. With `evenIfStarted`, a Job that has already started counts as
 * inactive once its controller reports the suspension.
 */
function isInactive({ spec = {}, status = {} }: StoredJob, { evenIfStarted }: { evenIfStarted: boolean }): boolean {
  if (!spec.suspend) return false
  if (status.startTime === undefined) return true
  const isReported = status.conditions?.some(({ type, status }) => type === 'Suspended' && status === 'True') === true
  return evenIfStarted && isReported && (status.active ?? 0) === 0
}

/** Rejects changes to the template. A change within the pod spec is reported for the pod spec as a whole. */
function checkParts(
  { spec: nextSpec, ...next }: PodTemplateSpec,
  { spec, ...previous }: PodTemplateSpec,
): FieldError[] {
  return [...immutableField('spec.template', next, previous), ...immutableField('spec.template.spec', nextSpec, spec)]
}

/** Returns the stored template with the scheduling directives, labels and annotations of the new template. */
function withDirectivesOf(next: PodTemplateSpec, template: PodTemplateSpec): PodTemplateSpec {
  const { labels: _l, annotations: _a, ...metadata } = template.metadata ?? {}
  const { nodeSelector: _n, tolerations: _t, affinity: _f, schedulingGates: _g, ...pods } = template.spec ?? {}
  const { labels, annotations } = next.metadata ?? {}
  const { nodeSelector, tolerations, schedulingGates } = next.spec ?? {}
  const affinity = comparedAffinity(next, template)
  const set = (members: object) =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
  return {
    ...template,
    metadata: { ...metadata, ...set({ labels, annotations }) },
    spec: { ...pods, ...set({ nodeSelector, tolerations, affinity, schedulingGates }) },
  }
}

/**
 * Returns the only affinity that the update may set: the stored affinity with the new node affinity. If the affinity
 * has no other parts, the update may also add or remove it as a whole.
 */
function comparedAffinity({ spec: next = {} }: PodTemplateSpec, { spec: stored = {} }: PodTemplateSpec) {
  const { nodeAffinity: _, ...others } = stored.affinity ?? {}
  if (next.affinity === undefined) return Object.keys(others).length > 0 ? others : undefined
  const { nodeAffinity } = next.affinity
  return nodeAffinity === undefined ? others : { ...others, nodeAffinity }
}

/** Returns the stored template with the resource requests and limits of the new template. */
function withResourcesOf({ spec: next = {} }: PodTemplateSpec, template: PodTemplateSpec): PodTemplateSpec {
  const { spec = {} } = template
  const { containers, initContainers } = spec
  return {
    ...template,
    spec: {
      ...spec,
      ...(containers && { containers: containers.map((one, i) => withResources(one, next.containers?.[i])) }),
      ...(initContainers && {
        initContainers: initContainers.map((one, i) => withResources(one, next.initContainers?.[i])),
      }),
    },
  }
}

function withResources(container: Container, next: Container | undefined): Container {
  if (next === undefined) return container
  const { requests: _r, limits: _l, ...others } = container.resources ?? {}
  const { requests, limits } = next.resources ?? {}
  return { ...container, resources: { ...others, ...(requests && { requests }), ...(limits && { limits }) } }
}
