/** LabelSelector as a field of objects: labels that must match, and expressions that must hold. */
import { field, s } from '../../schema/schema.ts'

const requirementFields = {
  key: field(1, s.string(), { zero: 'write', doc: 'The key of the label.' }),
  operator: field(2, s.string(), { zero: 'write', doc: 'In, NotIn, Exists or DoesNotExist.' }),
  values: field(3, s.list(s.string()), { doc: 'The values for In and NotIn; none for the others.' }),
}

const requirementNames = {
  name: 'meta.v1.LabelSelectorRequirement',
  doc: 'What must hold for the value of one label.',
}

const selectorNames = {
  name: 'meta.v1.LabelSelector',
  doc: 'Selects objects by their labels. All that it says must hold; an empty one selects everything.',
  atomic: true,
}

const matchLabels = field(1, s.map(s.string()), { doc: 'Labels that must be there, with their values.' })
const expressionsDoc = { doc: 'What else must hold for labels.' }

/** Its form is not checked: whoever selects by it decides what it means. */
export const freeLabelSelector = s.object(
  { matchLabels, matchExpressions: field(2, s.list(s.object(requirementFields, requirementNames)), expressionsDoc) },
  selectorNames,
)
