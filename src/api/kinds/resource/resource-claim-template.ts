/** A ResourceClaimTemplate is a template for ResourceClaims. Each pod that refers to it gets its own ResourceClaim. */
import { child } from '../../model/field-error.ts'
import { ageColumn, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { objectMeta } from '../../schema/object-meta.ts'
import { field, s } from '../../schema/schema.ts'
import { checkAnnotations, checkLabels } from '../../selectors/label-rules.ts'
import { immutableField } from '../immutable.ts'
import { checkAdminRequests } from './types/admin-access.ts'
import { resourceClaimSpec } from './types/claim-spec.ts'

/** Documentation for the fields shared by all versions of the template. */
export const claimTemplateDocs = {
  metadata: 'Labels and annotations for the claims.',
  spec: 'Specification of the claims.',
  template: 'Template for the claims. Immutable.',
} as const

const spec = s.object(
  {
    metadata: field(1, objectMeta, { zeroValue: 'write', doc: claimTemplateDocs.metadata }),
    spec: field(2, resourceClaimSpec, {
      zeroValue: 'write',
      published: 'required',
      doc: claimTemplateDocs.spec,
    }),
  },
  {
    name: 'ResourceClaimTemplateSpec',
    doc: 'Specification of a ResourceClaimTemplate. Immutable.',
    check: ({ metadata: { labels, annotations } = {} }, path) => [
      ...(labels ? checkLabels(labels, child(path, 'metadata.labels')) : []),
      ...(annotations ? checkAnnotations(annotations, child(path, 'metadata.annotations')) : []),
    ],
  },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', published: 'required', doc: claimTemplateDocs.template }),
}

export type ResourceClaimTemplate = ObjectOf<typeof fields>

export const resourceClaimTemplate = defineKind({
  names: {
    group: 'resource',
    version: 'v1',
    kind: 'ResourceClaimTemplate',
    plural: 'resourceclaimtemplates',
    scope: 'Namespaced',
  },
  since: '1.34',
  doc: 'A template for the ResourceClaims that are created for individual pods.',
  fields,
  rules: {
    validateCreate: ({ spec }, context) => checkAdminRequests(spec?.spec?.devices?.requests, context),
    validateUpdate: (next, previous) => immutableField('spec', next.spec, previous.spec),
  },
  lifecycle: { deleteAnswers: 'object' },
  views: { columns: [nameColumn, ageColumn] },
})

export const resourceClaimTemplateV1beta2 = defineVersion(resourceClaimTemplate, {
  version: 'v1beta2',
  fields,
  since: '1.33',
  optIn: true,
})
