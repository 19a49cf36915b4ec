/** A PodTemplateSpec is a template from which controllers create pods. */
import { child, type FieldError, type FieldPath, forbidden } from '../../../model/field-error.ts'
import type { Vendor } from '../../../model/vendor.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { objectMeta } from '../../../schema/object-meta.ts'
import { field, type InferFields, s, unvalidated } from '../../../schema/schema.ts'
import { checkAnnotations, checkLabels } from '../../../selectors/label-rules.ts'
import { checkAppArmorPairs } from './app-armor-annotations.ts'
import { checkDeletionCost, checkPodAnnotations, checkSeccompPairs, dropOlderAnnotations } from './pod-annotations.ts'
import { type PodSpec, podSpec } from './pod-spec.ts'
import { checkSeLinuxChange } from './security-context.ts'

const fields = {
  metadata: field(1, objectMeta, { zeroValue: 'write', doc: 'Labels and annotations for the pods.' }),
  spec: field(2, podSpec, { zeroValue: 'write', doc: 'Specification of the pods.' }),
}

export type PodTemplateSpec = InferFields<typeof fields>

export const podTemplateSpec = s.object(fields, {
  name: 'core.v1.PodTemplateSpec',
  doc: 'A template from which pods are created.',
  fill: fillTemplate,
  check: (template, path, context) => [
    ...checkTemplateMetadata(template, path, context),
    ...checkSeccompPairs(
      template.metadata?.annotations ?? {},
      template.spec ?? {},
      child(path, 'spec'),
      context.vendor,
    ),
    ...checkTemplateSpec(template.spec ?? {}, child(path, 'spec')),
    ...checkSeLinuxChange(template.spec ?? {}, child(path, 'spec'), context),
    ...checkAppArmorPairs(
      { annotations: template.metadata?.annotations ?? {}, spec: template.spec ?? {} },
      child(path, 'spec'),
      context,
    ),
  ],
})

/** A pod template that a controller completes later. Only its metadata is validated. */
export const unvalidatedTemplateSpec = s.object(
  { ...fields, spec: field(2, unvalidated(podSpec), { zeroValue: 'write', doc: 'Specification of the pods.' }) },
  {
    name: 'core.v1.PodTemplateSpec',
    doc: 'A template from which pods are created.',
    fill: fillTemplate,
    check: checkTemplateMetadata,
  },
)

function fillTemplate({ metadata }: PodTemplateSpec, { vendor }: { vendor: Vendor }): void {
  if (metadata !== undefined) dropOlderAnnotations(metadata, vendor)
}

/** Validates labels and annotations. Errors omit `metadata` from the path, as clients expect. */
function checkTemplateMetadata(template: PodTemplateSpec, path: FieldPath, { vendor }: RuleContext): FieldError[] {
  const { metadata: { labels, annotations = {} } = {}, spec = {} } = template
  const place = child(path, 'annotations')
  return [
    ...checkLabels(labels, child(path, 'labels')),
    ...checkAnnotations(annotations, place),
    ...checkPodAnnotations(annotations, spec, place, vendor),
    ...checkDeletionCost(annotations, place, vendor),
  ]
}

function checkTemplateSpec({ ephemeralContainers }: PodSpec, path: FieldPath): FieldError[] {
  if (ephemeralContainers === undefined) return []
  return [forbidden(child(path, 'ephemeralContainers'), 'ephemeral containers not allowed in pod template')]
}
