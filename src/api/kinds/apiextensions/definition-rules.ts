/**
 * Validation of a CustomResourceDefinition, except for its schemas. As in kube-apiserver, if all versions have the same
 * subresources or columns, an error in them is reported only once, with a path below `spec`.
 */

import { sameJson } from '../../json/json.ts'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../model/field-error.ts'
import { checkDns1035Label, checkDnsSubdomain, type NameCheck } from '../../model/names.ts'
import type { Vendor } from '../../model/vendor.ts'
import type { RuleContext } from '../../schema/context.ts'
import { checkApproval } from './approval.ts'
import { checkConversion } from './conversion-rules.ts'
import { isTrue } from './definition-conditions.ts'
import type {
  CustomResourceDefinition,
  DefinitionNames,
  DefinitionSpec,
  DefinitionVersion,
} from './definition-fields.ts'
import { checkColumns, checkScale } from './view-rules.ts'

const scopes = ['Cluster', 'Namespaced']

export function checkDefinition(object: CustomResourceDefinition, { vendor, subresource }: RuleContext): FieldError[] {
  const { spec = {} } = object
  return [
    ...checkGroup(spec.group ?? ''),
    ...checkApproval(object, vendor),
    ...checkScope(spec.scope ?? ''),
    ...checkNames(spec.names ?? {}),
    ...checkVersions(spec.versions ?? []),
    ...(subresource === 'status'
      ? checkAcceptedNames(object.status?.acceptedNames ?? {})
      : checkStoredVersions(object)),
    ...checkPreserving(spec, vendor),
    ...checkConversion(spec.conversion ?? {}),
  ]
}

export function checkNewDefinition({ metadata, spec = {} }: CustomResourceDefinition): FieldError[] {
  const expectedName = `${spec.names?.plural ?? ''}.${spec.group ?? ''}`
  // The validation of object metadata already reports a missing name.
  const { name = expectedName, generateName = expectedName } = metadata
  const why = 'must be spec.names.plural+"."+spec.group'
  return [
    ...(name === expectedName ? [] : [invalid('metadata.name', name, why)]),
    ...(generateName === expectedName ? [] : [invalid('metadata.generateName', generateName, why)]),
  ]
}

export function checkDefinitionUpdate(
  next: CustomResourceDefinition,
  previous: CustomResourceDefinition,
): FieldError[] {
  const fixed = (path: FieldPath, read: (spec: DefinitionSpec) => string | undefined) =>
    read(next.spec ?? {}) === read(previous.spec ?? {})
      ? []
      : [invalid(path, read(next.spec ?? {}) ?? '', 'field is immutable')]
  return [
    ...fixed('spec.group', ({ group }) => group),
    ...fixed('spec.names.plural', ({ names }) => names?.plural),
    ...(isTrue(previous, 'Established')
      ? [...fixed('spec.scope', ({ scope }) => scope), ...fixed('spec.names.kind', ({ names }) => names?.kind)]
      : []),
  ]
}

function checkText(path: FieldPath, value: string, check: NameCheck): FieldError[] {
  return value === '' ? [required(path)] : check(value).map((text) => invalid(path, value, text))
}

/** Validates a label. An empty label is reported as malformed rather than missing. */
function checkLabel(path: FieldPath, value: string): FieldError[] {
  return checkDns1035Label(value).map((text) => invalid(path, value, text))
}

function checkGroup(group: string): FieldError[] {
  const path = 'spec.group'
  if (group === '' || group.includes('.')) return checkText(path, group, checkDnsSubdomain)
  return [
    ...checkText(path, group, checkDnsSubdomain),
    invalid(path, group, 'should be a domain with at least one dot'),
  ]
}

function checkScope(scope: string): FieldError[] {
  if (scope === '') return [required('spec.scope')]
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)]
}

function checkNames(names: DefinitionNames): FieldError[] {
  const path = 'spec.names'
  const missing = (['plural', 'singular', 'kind', 'listKind'] as const).filter((part) => !names[part])
  const { length } = names.shortNames ?? []
  return [
    ...missing.map((part) => required(child(path, part))),
    ...checkNameForms(names, path),
    ...(length > maxShortNames ? [tooMany(`${path}.shortNames`, length, maxShortNames)] : []),
  ]
}

/** Validates the syntax of every name that the definition sets. */
function checkNameForms(names: DefinitionNames, path: FieldPath): FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names
  const mixed = (name: string) => checkDns1035Label(name.toLowerCase())
  const check = (part: string, name: string, form: NameCheck) =>
    name === '' ? [] : form(name).map((text) => invalid(child(path, part), name, text))
  return [
    ...check('plural', plural, checkDns1035Label),
    ...check('singular', singular, checkDns1035Label),
    ...check('kind', kind, mixed),
    ...check('listKind', listKind, mixed),
    ...(kind !== '' && kind === listKind
      ? [invalid(child(path, 'listKind'), listKind, 'kind and listKind may not be the same')]
      : []),
    ...shortNames.flatMap((name, i) => checkLabel(at(child(path, 'shortNames'), i), name)),
    ...categories.flatMap((name, i) => checkLabel(at(child(path, 'categories'), i), name)),
  ]
}

/** Validates the names in a status. Names that the server has not accepted are empty. */
export function checkAcceptedNames(names: DefinitionNames): FieldError[] {
  return checkNameForms(names, 'status.acceptedNames')
}

/**
 * Maximum number of short names. Every short name is reserved in the store, so the number of reservations must be
 * limited.
 */
const maxShortNames = 500

/**
 * Maximum number of versions. The server creates a kind for every version, so the work per definition must be limited.
 */
export const maxVersions = 50

function checkVersions(versions: readonly DefinitionVersion[]): FieldError[] {
  const path = 'spec.versions'
  if (versions.length > maxVersions) return [forbidden(path, `must have at most ${maxVersions} versions`)]
  const names = versions.map(({ name = '' }) => name)
  const namesText = names
  const stored = versions.filter(({ storage }) => storage).length
  return [
    ...(stored === 1 ? [] : [invalid(path, namesText, 'must have exactly one version marked as storage version')]),
    ...(new Set(names).size === names.length ? [] : [invalid(path, namesText, 'must contain unique version names')]),
    ...versions.flatMap((version, i) => checkVersion(version, at(path, i))),
    ...(names[0] ? checkLabel('spec.version', names[0]) : []),
    ...eachOnce(versions, 'subresources').flatMap(({ version, place }) => checkScale(version, place)),
    ...eachOnce(versions, 'additionalPrinterColumns').flatMap(({ version, place }) => checkColumns(version, place)),
  ]
}

function checkVersion({ name = '', schema, deprecated, deprecationWarning }: DefinitionVersion, path: FieldPath) {
  const warning = child(path, 'deprecationWarning')
  return [
    ...checkLabel(child(path, 'name'), name),
    ...(schema?.openAPIV3Schema === undefined
      ? [required(child(path, 'schema.openAPIV3Schema'), 'schemas are required')]
      : []),
    ...(deprecationWarning === undefined || deprecated ? [] : [invalid(warning, deprecationWarning, unasked)]),
    ...(deprecationWarning === undefined || !deprecated ? [] : checkWarning(deprecationWarning, warning)),
  ]
}

const unasked = 'can only be set for deprecated versions'

function checkWarning(text: string, place: FieldPath): FieldError[] {
  if (text.length > 256 || text === '') return [invalid(place, text, 'must have 1 to 256 characters')]
  return /^[\P{C}]*$/u.test(text) ? [] : [invalid(place, text, 'must only contain printable characters')]
}

interface PlacedVersion {
  readonly version: DefinitionVersion
  readonly place: FieldPath
}

/**
 * Returns each version of the definition, with the path for errors in the given part. If the part is the same in all
 * versions, returns only the first version, with the path `spec`.
 */
function eachOnce(versions: readonly DefinitionVersion[], part: keyof DefinitionVersion): PlacedVersion[] {
  const [first] = versions
  if (first === undefined) return []
  const isSame = versions.every((version) => sameJson(version[part], first[part]))
  if (isSame) return [{ version: first, place: 'spec' }]
  return versions.map((version, i) => ({ version, place: at('spec.versions', i) }))
}

/** Requires `spec.versions` to list every version in which objects may still be stored. */
function checkStoredVersions({ spec = {}, status = {} }: CustomResourceDefinition): FieldError[] {
  const path = 'status.storedVersions'
  const { storedVersions = [] } = status
  if (storedVersions.length === 0) return [invalid(path, [], 'must have at least one stored version')]
  const { versions = [] } = spec
  const versionNames = new Set(versions.map(({ name }) => name))
  const missing = versions.filter(({ name = '', storage }) => storage && !storedVersions.includes(name))
  const unknown = storedVersions.flatMap((name, i) =>
    versionNames.has(name) ? [] : [invalid(at(path, i), name, 'must appear in spec.versions')],
  )
  return [
    ...unknown,
    ...missing.map(({ name }) => invalid(path, storedVersions, `must have the storage version ${name}`)),
  ]
}

function checkPreserving(
  { preserveUnknownFields, conversion }: DefinitionSpec,
  { extensionPrefix }: Vendor,
): FieldError[] {
  if (!preserveUnknownFields) return []
  const instead = `set ${extensionPrefix}preserve-unknown-fields in the schemas instead`
  const { strategy = 'None' } = conversion ?? {}
  return [
    invalid('spec.preserveUnknownFields', true, `must be false: ${instead}`),
    ...(strategy === 'None'
      ? []
      : [invalid('spec.conversion.strategy', strategy, 'must be None if spec.preserveUnknownFields is true')]),
  ]
}
