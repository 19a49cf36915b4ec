/**
 * Valid CustomResourceDefinitions for random objects: one storage version, one schema per version, and valid JSON
 * paths.
 */
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { freeText, type MakeField, type Making, type ValidValues } from './random-object.ts'

const oneOf =
  (...values: readonly Json[]): MakeField =>
  ({ pick }) =>
    pick(values)
const label: MakeField = ({ pick, count }) => `${pick(['a', 'b-c', 'x1'])}${count()}`
const labels: MakeField = (making) => Array.from({ length: 1 + making.below(2) }, () => label(making)!)

const spec = { type: 'object', properties: { size: { type: 'integer', default: 3 }, any: { type: 'string' } } }
const schemas: readonly JsonObject[] = [
  { type: 'object', properties: { spec, status: { type: 'object', 'x-orch-preserve-unknown-fields': true } } },
  { type: 'object', 'x-orch-preserve-unknown-fields': true },
  { type: 'object', description: 'é', properties: { __proto__list: { type: 'array', items: { type: 'string' } } } },
]

export const definitionFields: ValidValues['fields'] = {
  'CustomResourceDefinitionSpec.group': ({ count }) => `g${count()}.example.com`,
  'CustomResourceDefinitionSpec.scope': oneOf('Cluster', 'Namespaced'),
  'CustomResourceDefinitionSpec.preserveUnknownFields': () => undefined,
  'CustomResourceDefinitionSpec.conversion': oneOf({ strategy: 'None' }),
  'CustomResourceDefinitionNames.plural': label,
  'CustomResourceDefinitionNames.singular': label,
  'CustomResourceDefinitionNames.shortNames': labels,
  'CustomResourceDefinitionNames.categories': labels,
  'CustomResourceDefinitionNames.kind': ({ count }) => `Kind${count()}`,
  'CustomResourceDefinitionNames.listKind': ({ count }) => `ListOf${count()}`,
  'CustomResourceDefinitionVersion.name': ({ count }) => `v${count()}`,
  'CustomResourceDefinitionVersion.schema': ({ pick }) => ({ openAPIV3Schema: pick(schemas) }),
  'CustomResourceSubresources.status': oneOf({}),
  'CustomResourceSubresourceScale.specReplicasPath': oneOf('.spec.size', '.spec.a.b'),
  'CustomResourceSubresourceScale.statusReplicasPath': oneOf('.status.replicas'),
  'CustomResourceSubresourceScale.labelSelectorPath': oneOf('.status.selector', '.spec.selector'),
  'CustomResourceColumnDefinition.name': (making) => freeText(making),
  'CustomResourceColumnDefinition.type': oneOf('integer', 'string', 'date', 'boolean', 'number'),
  'CustomResourceColumnDefinition.format': oneOf('int32', 'date-time', 'password'),
  'CustomResourceColumnDefinition.jsonPath': oneOf('.spec.size', '.metadata.name', '.spec['),
}

export const definitionsNeeded = ['CustomResourceDefinitionSpec.names', 'CustomResourceDefinitionSpec.versions']

export const definitionsAgree: ValidValues['agree'] = {
  CustomResourceDefinitionSpec: (object, making) => {
    const versions = object.versions as JsonObject[]
    const stored = making.pick(versions)
    for (const version of versions) version.storage = version === stored
  },
  CustomResourceDefinitionVersion: (version, { count }: Making) => {
    if (version.deprecated !== true) delete version.deprecationWarning
    else version.deprecationWarning = `use another one (${count()})`
  },
}

/** Sets the plural name and returns the name of the definition, which consists of the plural name and the group. */
export function nameDefinition(definition: JsonObject, plural: string): string {
  const { names, group } = definition.spec as { names: JsonObject; group: string }
  names.plural = plural
  return `${plural}.${group}`
}
