/**
 * Validates the pod template of a StatefulSet in the form in which the controller completes it: with a volume for each
 * volume claim template.
 */
import type { Sliced } from '../../../../base/concurrency/time-slice.ts'
import type { FieldError } from '../../../model/field-error.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, s } from '../../../schema/schema.ts'
import { validateSliced } from '../../../schema/validate.ts'
import type { PersistentVolumeClaim } from '../../core/persistent-volume-claim.ts'
import { persistentVolumeClaimSpec } from '../../core/types/claim-spec.ts'
import { type PodTemplateSpec, podTemplateSpec } from '../../core/types/pod-template-spec.ts'
import type { LabelSelector } from '../../meta/label-selector.ts'
import { templateUnjudged } from '../../pod-templates.ts'

interface Templates {
  selector?: LabelSelector
  template?: PodTemplateSpec
  volumeClaimTemplates?: PersistentVolumeClaim[]
}

/** Schema of the parts of a StatefulSet that `checkCompleteTemplate` validates. */
const checkedParts = s.object({
  spec: field(
    1,
    s.object({
      template: field(1, podTemplateSpec),
      volumeClaimTemplates: field(2, s.list(s.object({ spec: field(1, persistentVolumeClaimSpec) }))),
    }),
  ),
})

/**
 * Returns the errors in the completed template and, for a new StatefulSet, the errors in its claims. The claims of an
 * existing StatefulSet are immutable.
 */
export function* checkCompleteTemplate(
  spec: Templates,
  { isNew }: { isNew: boolean },
  context: RuleContext,
): Sliced<FieldError[]> {
  if (templateUnjudged(spec).length > 0) return []
  const claims = spec.volumeClaimTemplates ?? []
  const template = withClaims(spec.template ?? {}, claims)
  const volumeClaimTemplates = isNew ? claims.map(({ spec = {} }) => ({ spec })) : []
  return yield* validateSliced(checkedParts, { spec: { template, volumeClaimTemplates } }, context)
}

/**
 * Returns the pod template with a volume for each claim. As in the controller, a claim replaces a volume with the same
 * name.
 */
function withClaims(template: PodTemplateSpec, claims: readonly PersistentVolumeClaim[]) {
  const names = claims.map(({ metadata }) => metadata?.name ?? '')
  const replaced = new Set(names)
  const volumes = [
    ...names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...(template.spec?.volumes ?? []).filter(({ name = '' }) => !replaced.has(name)),
  ]
  return { ...template, spec: { ...template.spec, ...(volumes.length > 0 && { volumes }) } }
}
