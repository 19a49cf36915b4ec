/**
 * The approval of custom resource definitions in protected API groups. An API group in the domain of any profile is
 * protected. A definition in such a group needs an annotation with the URL of its approval, or with the reason why it
 * is not approved. A status condition reports the annotation. A manifest for a group of another profile may use the
 * annotation of that profile.
 */
import { at, type FieldError, invalid, required } from '../../model/field-error.ts'
import { ownerOf, type Vendor } from '../../model/vendor.ts'
import type { CustomResourceDefinition, DefinitionCondition } from './definition-fields.ts'

export function checkApproval(definition: CustomResourceDefinition, vendor: Vendor): FieldError[] {
  if (!isProtected(definition, vendor)) return []
  const key = annotationOf(vendor)
  const path = at('metadata.annotations', key)
  const approval = approvalOf(definition, vendor)
  if (approval === '')
    return [required(path, `kinds in the group ${definition.spec?.group} require the annotation ${key}`)]
  if (isBypassed(approval) || isUrl(approval)) return []
  return [invalid(path, approval, 'must be a URL, or a reason that begins with "unapproved"')]
}

/**
 * Returns the condition that reports the approval of a definition. Returns undefined if the API group is not protected.
 */
export function approvalCondition(
  definition: CustomResourceDefinition,
  vendor: Vendor,
): DefinitionCondition | undefined {
  if (!isProtected(definition, vendor)) return undefined
  const { profile } = vendor
  const type = `${profile.charAt(0).toUpperCase()}${profile.slice(1)}APIApprovalPolicyConformant`
  const approval = approvalOf(definition, vendor)
  if (isBypassed(approval))
    return {
      type,
      status: 'False',
      reason: 'UnapprovedAnnotation',
      message: `not approved: ${JSON.stringify(approval)}`,
    }
  return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${approval}` }
}

function isProtected({ spec }: CustomResourceDefinition, vendor: Vendor): boolean {
  return !!spec?.group && ownerOf(vendor, spec.group) !== undefined
}

function annotationOf({ keyDomain }: Vendor): string {
  return `api-approved.${keyDomain}`
}

function approvalOf({ metadata, spec }: CustomResourceDefinition, vendor: Vendor): string {
  const { annotations = {} } = metadata
  const owner = ownerOf(vendor, spec?.group ?? '') ?? vendor
  return annotations[annotationOf(vendor)] || annotations[annotationOf(owner)] || ''
}

function isBypassed(text: string): boolean {
  return text.startsWith('unapproved')
}

function isUrl(text: string): boolean {
  const { protocol, host } = URL.parse(text) ?? {}
  return protocol !== undefined && host !== ''
}
