/** A PodTemplate stores a pod template as a separate object. */
import { column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { countsGeneration, isNewGeneration } from '../generation.ts'
import { templateWarnings } from '../pod-templates.ts'
import { resetGated } from './types/gated-parts.ts'
import { podTemplateSpec } from './types/pod-template-spec.ts'

const fields = { template: field(2, podTemplateSpec, { zeroValue: 'write', doc: 'Template for the pods.' }) }

export type PodTemplate = ObjectOf<typeof fields>

export const podTemplate = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'PodTemplate',
    plural: 'podtemplates',
    scope: 'Namespaced',
  },
  doc: 'A stored template from which pods can be created.',
  fields,
  rules: countsGeneration(({ template }: PodTemplate) => template, {
    prepareForCreate: ({ template }, context) => resetGated({ spec: template?.spec }, 'template.spec', context),
    prepareForUpdate: ({ template }, previous, context) =>
      resetGated({ spec: template?.spec, previous: previous.template?.spec }, 'template.spec', context),
    warnings: (object, previous, context) =>
      isNewGeneration(object, previous) ? templateWarnings(object.template, 'template', context) : [],
  }),
  lifecycle: {
    deleteAnswers: 'object',
  },
  views: {
    columns: [
      nameColumn,
      column('Containers', 'Names of the containers.', (object: PodTemplate) => listed(object, 'name')),
      column('Images', 'Images of the containers.', (object: PodTemplate) => listed(object, 'image')),
      column('Pod Labels', 'Labels of the pods created from the template.', (object: PodTemplate) => podLabels(object)),
    ],
  },
})

function listed({ template }: PodTemplate, part: 'name' | 'image'): string {
  return (template?.spec?.containers ?? []).map((one) => one[part] ?? '').join(',')
}

function podLabels({ template }: PodTemplate): string {
  const labels = Object.entries(template?.metadata?.labels ?? {})
  return labels.length === 0
    ? '<none>'
    : labels
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join(',')
}
