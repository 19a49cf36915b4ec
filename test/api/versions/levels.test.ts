/** Tests the kinds, fields and feature gates of all versions, compared with recorded facts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageOf } from '../../../src/api/codec/protobuf/message.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { groupName, vendorOf } from '../../../src/api/model/vendor.ts'
import type { Field, ObjectSchema, Schema } from '../../../src/api/schema/schema.ts'
import { exists } from '../../../src/api/versions/availability.ts'
import {
  type EmulatedVersion,
  emulatedVersions,
  isAtLeast,
  releaseOf,
} from '../../../src/api/versions/emulated-version.ts'
import { gateState, isFeatureGate } from '../../../src/api/versions/feature-gates.ts'
import { homeOf } from '../../../src/apiserver/http/openapi/group-version.ts'
import { gateRows, kindRows, type LevelField, type LevelType, patchReleases, typeFacts } from '../../support/levels.ts'

const vendor = vendorOf('orch')

test('the server reports the newest patch release of each emulated Kubernetes version', () => {
  for (const [version, release] of patchReleases()) {
    const { major, minor, patch } = releaseOf(version as EmulatedVersion)
    assert.equal(`v${major}.${minor}.${patch}`, release)
  }
})

const letters = { alpha: 'a', beta: 'b', stable: 'g', deprecated: 'd' } as const

test('each emulated Kubernetes version has the feature gates of its release, with their stages, defaults and locks', () => {
  const differing: string[] = []
  for (const { columns, states } of gateRows()) {
    const [name = ''] = columns
    if (name === 'AllAlpha' || name === 'AllBeta') continue
    for (const version of emulatedVersions) {
      const state = isFeatureGate(name) ? gateState(name, version) : undefined
      const written = state && `${letters[state.stage]}${state.on ? '+' : '-'}${state.locked ? '!' : ''}`
      if ((written ?? '') !== states[version])
        differing.push(`${name} ${version}: ${written} is not ${states[version]}`)
    }
  }
  assert.deepEqual(differing, [])
})

/**
 * Whether only the specification contains an API version, and Kubernetes 1.23 does not serve it. This is true of the
 * v1beta1 webhook configurations.
 */
const beyondKubernetes = (version: string, group: string) =>
  group === 'admissionregistration.orch.io' && version === 'v1beta1'

for (const level of emulatedVersions)
  test(`version ${level} serves the same kinds as Kubernetes`, () => {
    const served = kindsOfVersion(level)
      .filter((kind) => exists(kind, level) && kind.group !== 'ops')
      .map((kind) => ({ kind, group: groupName(vendor, kind.group) }))
      .filter(({ kind, group }) => level !== '1.23' || !beyondKubernetes(kind.version, group))
      .map(
        ({ kind, group }) =>
          `${group}/${kind.version} ${kind.plural} ${kind.kind} ${kind.scope} ${kind.optIn ? 'off' : 'on'}`,
      )
    const expected = kindRows()
      .filter(({ states }) => states[level] !== '')
      .map(({ columns: [group, version, plural, kind, scope], states }) => {
        return `${group}/${version} ${plural} ${kind} ${scope} ${states[level]}`
      })
    assert.deepEqual(served.sort(), expected.sort())
  })

/** Returns the object types of a version by their full names. */
class TypesOfVersion {
  readonly found = new Map<string, ObjectSchema>()
  readonly #seen = new Set<string>()

  add(schema: Schema, home: string): void {
    if (schema.type === 'list') this.add(schema.items, home)
    else if (schema.type === 'map') this.add(schema.values, home)
    else if (schema.type === 'any' && schema.described !== undefined) this.add(schema.described(vendor), home)
    else if (schema.type === 'object') this.#addObject(schema, home)
  }

  #addObject(schema: ObjectSchema, home: string): void {
    const name = fullName(schema.name ?? '', home)
    if (this.#seen.has(name)) return
    this.#seen.add(name)
    this.found.set(name, schema)
    const inner = name.slice(0, name.lastIndexOf('.'))
    for (const field of Object.values(schema.fields)) this.add(field.schema, inner)
  }
}

function fullName(name: string, home: string): string {
  return name.includes('.') ? name : `${home}.${name}`
}

function typesOf(level: EmulatedVersion): Map<string, ObjectSchema> {
  const types = new TypesOfVersion()
  for (const kind of kindsOfVersion(level).filter((each) => exists(each, level) && each.group !== 'ops'))
    types.add(kind.schema, homeOf(kind))
  return types.found
}

const facts = typeFacts()

function isIn(
  { since = '1.23', until }: { readonly since?: LevelField['since']; readonly until?: LevelField['until'] },
  level: EmulatedVersion,
) {
  return isAtLeast(level, since) && (until === undefined || !isAtLeast(level, until))
}

/** Returns the type of a field in the notation of the facts, for plain types and named types. */
function typeText(schema: Schema, home: string): string {
  switch (schema.type) {
    case 'list':
      return `${typeText(schema.items, home)}[]`
    case 'map':
      return `map<string,${typeText(schema.values, home)}>`
    case 'integer':
      return `integer:int${schema.bits}`
    case 'number':
      return 'number:double'
    case 'bytes':
      return 'string:byte'
    case 'string':
    case 'boolean':
      return schema.type
    case 'time':
      return schema.micro ? 'meta.v1.MicroTime' : 'meta.v1.Time'
    case 'quantity':
      return 'api.resource.Quantity'
    case 'intOrString':
      return 'util.intstr.IntOrString'
    case 'any':
      return schema.name === undefined ? 'any' : fullName(schema.name, home)
    case 'object':
      return fullName(schema.name ?? '', home)
    default:
      return schema satisfies never
  }
}

/** Describes a field from a later version. Both apply and strategic merge patches use the recorded merge keys. */
function describe({ schema, tag }: Field, home: string) {
  const list = schema.type === 'list' ? schema : undefined
  const strategy = list?.patch === undefined ? undefined : `${list.patch}${list.retainKeys ? ',retainKeys' : ''}`
  return {
    type: typeText(schema, home),
    tag,
    listType: list?.list,
    keys: list?.keys?.join(),
    strategy,
    mergeKey: list?.mergeKey,
  }
}

function describeFact(fact: LevelField, tag: number) {
  const { type, listType, listMapKeys, patchStrategy, patchMergeKey } = fact
  return {
    type: type.replace(/^pkg\./, ''),
    tag: fact.tag ?? tag,
    listType: type.endsWith('[]') ? (listType ?? 'atomic') : undefined,
    keys: listMapKeys?.join(),
    strategy: patchStrategy,
    mergeKey: patchMergeKey,
  }
}

/**
 * Types that are excluded here because other tests compare them. Some fields of JSONSchemaProps are vendor extensions.
 * In Kubernetes 1.23, the webhook types follow the specification.
 */
const comparedElsewhere =
  /^apiextensions\.v1\.JSONSchemaProps|^admissionregistration\.v1beta1\.(Mutating|Validating)?Webhook/

for (const level of emulatedVersions)
  test(`kinds at version ${level} have the same fields as in Kubernetes`, () => {
    const differing: string[] = []
    for (const [name, schema] of typesOf(level)) {
      const fact = facts[name]
      if (comparedElsewhere.test(name) || (fact === undefined && level === '1.23')) continue
      if (fact === undefined) differing.push(`${name}: unknown type`)
      else differing.push(...differences(name, { schema, fact, level }))
    }
    assert.deepEqual(differing, [])
  })

interface Compared {
  readonly schema: ObjectSchema
  readonly fact: LevelType
  readonly level: EmulatedVersion
}

function differences(name: string, { schema, fact, level }: Compared): string[] {
  const home = name.slice(0, name.lastIndexOf('.'))
  const expected = Object.entries(fact.fields ?? {}).filter(([, each]) => isIn(each, level))
  const names = expected.map(([each]) => each)
  const missing = names.filter((each) => !Object.hasOwn(schema.fields, each))
  const more = Object.keys(schema.fields).filter((each) => !names.includes(each))
  const later = expected.filter(([each, { since }]) => (since ?? fact.since) !== undefined && !missing.includes(each))
  return [
    ...missing.map((each) => `${name}.${each} is missing`),
    ...more.map((each) => `${name}.${each} does not exist in ${level}`),
    ...later.flatMap(([each, field]) => {
      const [actual, wanted] = [describe(schema.fields[each]!, home), describeFact(field, schema.fields[each]!.tag)]
      return JSON.stringify(actual) === JSON.stringify(wanted)
        ? []
        : [`${name}.${each}: ${JSON.stringify(actual)} is not ${JSON.stringify(wanted)}`]
    }),
  ]
}

test('each field that was added after 1.23 behind a feature gate names the gate', () => {
  const differing: string[] = []
  for (const level of emulatedVersions)
    for (const [name, schema] of typesOf(level))
      for (const [each, { gate, since }] of Object.entries(facts[name]?.fields ?? {}))
        if (gate !== undefined && since !== undefined && schema.fields[each] !== undefined)
          if (schema.fields[each].gate === undefined) differing.push(`${name}.${each} needs ${gate}`)
  assert.deepEqual([...new Set(differing)], [])
})

/**
 * Fields of later versions that belong to nested Protobuf messages, according to the published messages of Kubernetes.
 */
const inlinedLater: { readonly [type: string]: { readonly [field: string]: readonly number[] } } = {
  NamedRuleWithOperations: {
    operations: [2],
    apiGroups: [2, 2],
    apiVersions: [2, 2],
    resources: [2, 2],
    scope: [2, 2],
  },
  DeviceClassConfiguration: { opaque: [1] },
  DeviceClaimConfiguration: { opaque: [2] },
  DeviceAllocationConfiguration: { opaque: [3] },
}

/** For each field that is inline in JSON, returns the field numbers of the nested messages that contain it. */
function inlinedFields(name: string): { readonly [field: string]: readonly number[] } {
  const { inlined = {}, fields = {} } = facts[name]!
  const unnumbered = Object.keys(fields).filter((field) => fields[field]!.tag === undefined)
  const nested = Object.values(inlined).flatMap(({ tag }) => unnumbered.map((field) => [field, [tag]] as const))
  return { ...Object.fromEntries(nested), ...inlinedLater[name.slice(name.lastIndexOf('.') + 1)] }
}

test('inlined JSON fields belong to the same nested Protobuf messages as in Kubernetes', () => {
  const seen = new Set<string>()
  for (const level of emulatedVersions)
    for (const [name, schema] of typesOf(level)) {
      if (facts[name] === undefined || comparedElsewhere.test(name)) continue
      const expected = inlinedFields(name)
      for (const [each, { within }] of Object.entries(schema.fields)) {
        assert.deepEqual(within, expected[each], `${name}.${each} at ${level}`)
        if (within !== undefined) seen.add(name)
      }
      messageOf(schema)
    }
  assert.ok(Object.keys(inlinedLater).every((type) => [...seen].some((name) => name.endsWith(`.${type}`))))
})
