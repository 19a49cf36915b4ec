/** From a definition that a user wrote to the kinds that it defines: one for each version that is served. */

import type { Json } from '../../../api/json/json.ts'
import type {
  CustomResourceDefinition,
  DefinitionNames,
  DefinitionSpec,
  DefinitionVersion,
} from '../../../api/kinds/apiextensions/definition-fields.ts'
import { maxVersions } from '../../../api/kinds/apiextensions/definition-rules.ts'
import { defaultGates } from '../../../api/model/feature-gates.ts'
import { at, child, type FieldError } from '../../../api/model/field-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { compareVersions } from '../../../api/model/version-order.ts'
import type { JudgeContext } from '../../../api/schema/context.ts'
import type { Evolution, Kind, Scope } from '../../../api/schema/kind.ts'
import { type CustomKindDefinition, customKind } from '../objects/custom-kind.ts'
import type { Convert } from '../objects/evolution.ts'
import { judgeRules } from '../rules/rule-faults.ts'
import { defaultFaults } from '../schema/default-faults.ts'

export type DefinedKinds =
  | { readonly outcome: 'kinds'; readonly kinds: readonly Kind[] }
  | { readonly outcome: 'invalid'; readonly faults: readonly FieldError[] }

export interface MadeWith {
  readonly vendor: Vendor
  /** How one version is made from another, where that takes a webhook. */
  readonly convert: Convert | undefined
}

/** Of a definition with these names: those that it has been granted. */
export async function kindsOf(
  definition: CustomResourceDefinition,
  names: DefinitionNames,
  { vendor, convert }: MadeWith,
): Promise<DefinedKinds> {
  const { versions = [] } = definition.spec ?? {}
  // The stored version first: the others are stored in it.
  const ordered = versions.toSorted((a, b) => Number(b.storage ?? false) - Number(a.storage ?? false))
  const kinds = new Map<DefinitionVersion, Kind>()
  const evolutions = new Map<string, Evolution>()
  for (const version of ordered) {
    const [storage] = kinds.values()
    const wanted = { ...definitionOf(definition, names, version), storage, versions: evolutions, convert }
    const made = await customKind(wanted, vendor, { path: version.name ?? '', stored: true })
    if (made.outcome === 'invalid') return made
    kinds.set(version, made.kind)
  }
  const served = versions.filter((version) => version.served).map((version) => kinds.get(version)!)
  return { outcome: 'kinds', kinds: served }
}

/** What is wrong with the schemas of a definition, in all versions; those that are as they were have been judged. */
async function schemaFaultsOf(
  definition: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
  { vendor, pace, gates = defaultGates }: JudgeContext,
): Promise<FieldError[]> {
  const { spec = {} } = definition
  const faults: FieldError[] = []
  const { versions = [] } = spec
  if (versions.length > maxVersions) return []
  const known = new Set((previous?.spec?.versions ?? []).map(schemaText))
  for (const [i, version] of versions.entries()) {
    if (version.schema?.openAPIV3Schema === undefined) continue
    if (previous !== undefined && known.has(schemaText(version))) continue
    await pace.yieldIfDue()
    const path = child(at('spec.versions', i), 'schema.openAPIV3Schema')
    const hasStatus = version.subresources?.status !== undefined
    const reading = { path, pace, hasStatus }
    const made = await customKind(definitionOf(definition, spec.names ?? {}, version), vendor, reading)
    if (made.outcome === 'invalid') faults.push(...made.faults)
    else {
      faults.push(...(await pace.run(defaultFaults(made.kind.schema, vendor, path))))
      if (gates.has('CustomResourceValidationExpressions'))
        faults.push(...(await judgeRules(version.schema.openAPIV3Schema as Json, vendor, { path, pace })))
    }
  }
  return faults
}

/** What a schema is judged by: what it says, and whether there is a status beside it. */
function schemaText({ schema, subresources }: DefinitionVersion): string {
  return JSON.stringify([schema?.openAPIV3Schema ?? null, subresources?.status !== undefined], (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
}

/** A kind of any objects: what is left of a definition that cannot be read. */
export async function openKind(definition: CustomResourceDefinition, vendor: Vendor): Promise<Kind> {
  const { spec } = definition
  const [version = {}] = spec?.versions ?? []
  const schema = { type: 'object', [`${vendor.extensionPrefix}preserve-unknown-fields`]: true }
  const convert = spec?.conversion?.strategy === 'Webhook' ? refuseToConvert : undefined
  const open = { ...definitionOf(definition, spec?.names ?? {}, version), schema, convert }
  const made = await customKind(open, vendor, { path: '' })
  if (made.outcome === 'invalid') throw new TypeError('a schema that demands nothing was refused')
  return made.kind
}

/** What only deletes objects takes them as they are stored. */
const refuseToConvert: Convert = () => Promise.reject(new TypeError('objects are deleted as they are stored'))

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
    warning: deprecated ? (deprecationWarning ?? warningOf(spec ?? {}, name, kind)) : undefined,
    id: `${metadata.uid ?? ''}/${metadata.generation ?? 0}`,
  }
}

/** Names the best version to use instead, if there is a later one. */
function warningOf({ group, versions = [] }: DefinitionSpec, deprecated: string, kind: string): string {
  const [best] = versions
    .filter(({ name = '', served, deprecated: isOld }) => served && !isOld && compareVersions(name, deprecated) < 0)
    .map(({ name = '' }) => name)
    .sort(compareVersions)
  const instead = best === undefined ? '' : `; use ${group}/${best} ${kind}`
  return `${group}/${deprecated} ${kind} is deprecated${instead}`
}

/** The kind of definitions, with the rules that need their schemas to be read. */
export function withSchemaRules(kind: Kind): Kind {
  const judge: NonNullable<Kind['rules']['judge']> = (object, previous, context) =>
    schemaFaultsOf(object as CustomResourceDefinition, previous as CustomResourceDefinition | undefined, context)
  return { ...kind, rules: { ...kind.rules, judge } }
}
