/** Creates the kinds of a CustomResourceDefinition: one for each served version. */

import type { Json } from '../../../api/json/json.ts'
import type {
  CustomResourceDefinition,
  DefinitionNames,
  DefinitionSpec,
  DefinitionVersion,
} from '../../../api/kinds/apiextensions/definition-fields.ts'
import { maxVersions } from '../../../api/kinds/apiextensions/definition-rules.ts'
import { at, child, type FieldError } from '../../../api/model/field-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { compareVersions } from '../../../api/model/version-order.ts'
import { emulationOf, type JudgeContext } from '../../../api/schema/context.ts'
import type { Evolution, Kind, Scope } from '../../../api/schema/kind.ts'
import { type CustomKindDefinition, customKind } from '../objects/custom-kind.ts'
import { selectableFieldFaults, selectablePaths } from '../objects/selectable-fields.ts'
import type { Convert } from '../objects/upgrade-stored-objects.ts'
import { expressionsIn, judgeRules } from '../rules/rule-faults.ts'
import { defaultFaults } from '../schema/default-faults.ts'
import { formatWarnings } from '../schema/format-warnings.ts'

export type DefinedKinds =
  | { readonly outcome: 'kinds'; readonly kinds: readonly Kind[] }
  | { readonly outcome: 'invalid'; readonly faults: readonly FieldError[] }

export interface MadeWith {
  readonly vendor: Vendor
  /** Converts objects between versions with the definition's webhook. Undefined if the definition has none. */
  readonly convert: Convert | undefined
}

/** Creates one kind for each served version of a definition, with the names that were accepted for the definition. */
export async function kindsOf(
  definition: CustomResourceDefinition,
  names: DefinitionNames,
  { vendor, convert }: MadeWith,
): Promise<DefinedKinds> {
  const { versions = [] } = definition.spec ?? {}
  // Create the storage version first, because all other versions refer to it.
  const ordered = versions.toSorted((a, b) => Number(b.storage ?? false) - Number(a.storage ?? false))
  const kinds = new Map<DefinitionVersion, Kind>()
  const evolutions = new Map<string, Evolution>()
  const indexedFields = [...new Set(versions.flatMap(selectablePaths))]
  for (const version of ordered) {
    const [storage] = kinds.values()
    const kindOptions = {
      ...definitionOf(definition, names, version),
      indexedFields,
      storage,
      versions: evolutions,
      convert,
    }
    const made = await customKind(kindOptions, vendor, { path: version.name ?? '', stored: true })
    if (made.outcome === 'invalid') return made
    kinds.set(version, made.kind)
  }
  const served = versions.filter((version) => version.served).map((version) => kinds.get(version)!)
  return { outcome: 'kinds', kinds: served }
}

/** Validates the schemas of all versions. Unchanged schemas are skipped. */
async function schemaFaultsOf(
  definition: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
  context: JudgeContext,
): Promise<FieldError[]> {
  const { vendor, timeSlice } = context
  const emulation = emulationOf(context)
  const { spec = {} } = definition
  const faults: FieldError[] = []
  const storedSchemas = (previous?.spec?.versions ?? []).map(({ schema }) => (schema?.openAPIV3Schema ?? null) as Json)
  const stored = expressionsIn(storedSchemas, vendor.extensionPrefix)
  const { versions = [] } = spec
  if (versions.length > maxVersions) return []
  const previousSchemas = new Set((previous?.spec?.versions ?? []).map(schemaText))
  for (const [i, version] of versions.entries()) {
    if (version.schema?.openAPIV3Schema === undefined) continue
    if (previous !== undefined && previousSchemas.has(schemaText(version))) continue
    await timeSlice.yieldIfDue()
    const path = child(at('spec.versions', i), 'schema.openAPIV3Schema')
    const hasStatus = version.subresources?.status !== undefined
    const reading = { path, timeSlice, hasStatus, emulation }
    const made = await customKind(definitionOf(definition, spec.names ?? {}, version), vendor, reading)
    if (made.outcome === 'invalid') faults.push(...made.faults)
    else {
      faults.push(...(await timeSlice.run(defaultFaults(made.kind.schema, vendor, path))))
      const place = versions.length === 1 ? 'spec' : at('spec.versions', i)
      faults.push(...selectableFieldFaults(version, vendor.extensionPrefix, place))
      if (emulation.gates.has('CustomResourceValidationExpressions')) {
        const reading = { path, timeSlice, emulation, stored }
        faults.push(...(await judgeRules(version.schema.openAPIV3Schema as Json, vendor, reading)))
      }
    }
  }
  return faults
}

/** Serializes everything that affects the validation of a version's schema, to detect whether an update changes it. */
function schemaText({ schema, subresources, selectableFields }: DefinitionVersion): string {
  const inputs = [schema?.openAPIV3Schema ?? null, subresources?.status !== undefined, selectableFields ?? []]
  return JSON.stringify(inputs, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
}

/**
 * Returns a kind that accepts any object, so that the objects of a terminating definition can be deleted regardless of
 * their content.
 */
export async function openKind(definition: CustomResourceDefinition, vendor: Vendor): Promise<Kind> {
  const { spec } = definition
  const [version = {}] = spec?.versions ?? []
  const schema = { type: 'object', [`${vendor.extensionPrefix}preserve-unknown-fields`]: true }
  const convert = spec?.conversion?.strategy === 'Webhook' ? refuseToConvert : undefined
  const open = { ...definitionOf(definition, spec?.names ?? {}, version), schema, convert }
  const made = await customKind(open, vendor, { path: '' })
  if (made.outcome === 'invalid') throw new TypeError('the schema compiler rejected an empty schema')
  return made.kind
}

/** Deletions process objects in their stored form, so a call to convert them would be a bug. */
const refuseToConvert: Convert = () =>
  Promise.reject(new TypeError('a deletion requested a conversion, but deletions use the stored version'))

function definitionOf(
  { metadata, spec }: CustomResourceDefinition,
  names: DefinitionNames,
  version: DefinitionVersion,
): CustomKindDefinition {
  const { group = '', scope } = spec ?? {}
  const { name = '', schema, subresources, additionalPrinterColumns, deprecated, deprecationWarning } = version
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names
  return {
    group,
    version: name,
    kind,
    plural,
    singular,
    listKind,
    shortNames,
    categories,
    scope: scope as Scope,
    schema: (schema?.openAPIV3Schema ?? null) as Json,
    status: subresources?.status !== undefined,
    scale: subresources?.scale,
    columns: additionalPrinterColumns ?? [],
    selectable: selectablePaths(version),
    warning: deprecated ? (deprecationWarning ?? warningOf(spec ?? {}, name, kind)) : undefined,
    id: `${metadata.uid ?? ''}/${metadata.generation ?? 0}`,
  }
}

/** Returns a deprecation warning. The warning recommends a newer version if the server serves one. */
function warningOf({ group, versions = [] }: DefinitionSpec, deprecated: string, kind: string): string {
  const [best] = versions
    .filter(({ name = '', served, deprecated: isOld }) => served && !isOld && compareVersions(name, deprecated) < 0)
    .map(({ name = '' }) => name)
    .sort(compareVersions)
  const instead = best === undefined ? '' : `; use ${group}/${best} ${kind}`
  return `${group}/${deprecated} ${kind} is deprecated${instead}`
}

/** Adds the validation rules that need parsed schemas to the CustomResourceDefinition kind. */
export function withSchemaRules(kind: Kind): Kind {
  const judge: NonNullable<Kind['rules']['judge']> = (object, previous, context) =>
    schemaFaultsOf(object as CustomResourceDefinition, previous as CustomResourceDefinition | undefined, context)
  const warnings: NonNullable<Kind['rules']['warnings']> = (object, previous, context) => [
    ...(kind.rules.warnings?.(object, previous, context) ?? []),
    ...formatWarnings((object as CustomResourceDefinition).spec?.versions ?? [], context),
  ]
  return { ...kind, rules: { ...kind.rules, judge, warnings } }
}
