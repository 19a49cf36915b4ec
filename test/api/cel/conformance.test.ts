/**
 * Runs the conformance tests of the CEL specification. Kubernetes uses a subset of the language. `leftOut` lists the
 * tests to skip because Kubernetes does not support the tested feature. All other tests must pass, except those listed
 * in `differences`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Budget } from '../../../src/api/cel/budget.ts'
import { equals } from '../../../src/api/cel/compare.ts'
import type { DeclaredType } from '../../../src/api/cel/declared-type.ts'
import { loadPatternEngine } from '../../../src/api/cel/pattern-engine.ts'
import { compileRule } from '../../../src/api/cel/program.ts'
import { readDateTime, readDuration } from '../../../src/api/cel/time-text.ts'
import { type CelType, formatType, listOf, mapOf, types } from '../../../src/api/cel/types.ts'
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  Double,
  kindOf,
  LiteralMap,
  TypeValue,
  toInt,
  Uint,
  type Value,
} from '../../../src/api/cel/values.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'
import { conformanceTests, type PlacedTest, type SpecTest, type SpecType, type SpecValue } from './conformance-suite.ts'

const readPattern = await loadPatternEngine()

const messages = 'Kubernetes expressions have no Protobuf messages and enums'
const library = 'Kubernetes does not enable this extension library'

/** Files and sections to skip. A key is `file` or `file/section`, and its value is the reason. */
const leftOut: { readonly [place: string]: string } = {
  proto2: messages,
  proto2_ext: messages,
  proto3: messages,
  enums: messages,
  wrappers: messages,
  dynamic: messages,
  'comparisons/eq_wrapper': messages,
  'type_deductions/wrappers': messages,
  block_ext: library,
  encoders_ext: library,
  math_ext: library,
  'namespace/namespace': 'Kubernetes expressions have no container',
}

const messageName = /TestAllTypes|NestedTestAllTypes|google\.protobuf\.(?!Timestamp|Duration)|GlobalEnum|\.NestedEnum/

/** Returns the reason why a test does not apply, or undefined if the test applies. */
function reasonToSkip({ file, section, spec }: PlacedTest): string | undefined {
  const known = leftOut[file] ?? leftOut[`${file}/${section}`]
  if (known !== undefined) return known
  const { expr, typeEnv = [], bindings = {}, value, typedResult } = spec
  if (messageName.test(JSON.stringify([expr, typeEnv, bindings, value, typedResult]))) return messages
  if (typeEnv.some((declaration) => declaration.function !== undefined)) return 'The test declares a function'
  return undefined
}

/** Tests for which Kubernetes differs from the specification, as `file/section/name`, grouped by reason. */
const differences: { readonly [reason: string]: readonly string[] } = {
  'Kubernetes requires that all elements of a literal have one type': [
    'comparisons/eq_literal/eq_list_mixed_type_numbers',
    'comparisons/eq_literal/eq_map_mixed_type_numbers',
    'comparisons/eq_literal/eq_map_value_mixed_types',
    'comparisons/eq_literal/not_eq_list_elem_null',
    'comparisons/eq_literal/not_eq_list_false_vs_types',
    'comparisons/eq_literal/not_eq_list_mixed_type_numbers',
    'comparisons/eq_literal/not_eq_list_null',
    'comparisons/eq_literal/not_eq_map_false_vs_types',
    'comparisons/eq_literal/not_eq_map_null',
    'comparisons/eq_literal/not_eq_map_value_null',
    'comparisons/in_list_literal/elem_in_mixed_type_list',
    'comparisons/in_list_literal/elem_in_mixed_type_list_cross_type',
    'comparisons/in_map_literal/key_in_mixed_key_type_map',
    'comparisons/in_map_literal/key_in_mixed_key_type_map_cross_type',
    'conversions/dyn/dyn_heterogeneous_list',
    'fields/in/mixed_numbers_and_keys_absent',
    'fields/in/mixed_numbers_and_keys_present',
    'fields/map_fields/map_key_int64',
    'fields/map_fields/map_key_mixed_numbers_double_key',
    'fields/map_fields/map_key_mixed_numbers_int_key',
    'fields/map_fields/map_key_mixed_numbers_uint_key',
    'fields/map_fields/map_key_mixed_type',
    'fields/map_fields/map_key_uint64',
    'fields/map_fields/map_value_mix_type',
    'macros/all/list_elem_type_shortcircuit',
    'macros/exists/list_elem_type_exhaustive',
    'macros/exists/list_elem_type_shortcircuit',
    'macros/exists/map_key_type_exhaustive',
    'macros/exists/map_key_type_shortcircuit',
    'macros2/all/list_elem_type_exhaustive',
    'macros2/all/list_elem_type_shortcircuit',
    'macros2/exists/list_elem_type_exhaustive',
    'macros2/exists/list_elem_type_shortcircuit',
    'macros2/exists/map_key_type_exhaustive',
    'macros2/exists/map_key_type_shortcircuit',
    'optionals/optionals/map_key_mixed_numbers_double_key_optindex_value',
    'optionals/optionals/map_key_mixed_numbers_int_key_optindex_value',
    'optionals/optionals/map_key_mixed_numbers_uint_key_optindex_value',
    'optionals/optionals/map_key_mixed_type_optindex_value',
    'optionals/optionals/optional_chaining_13',
    'string_ext/format/dyntype support for lists',
    'string_ext/format/dyntype support for maps',
    'string_ext/format/list support for string',
    'string_ext/format/map support (all key types)',
    'string_ext/format/map support for string',
  ],
  'cel-go returns the whole duration in milliseconds': ['timestamps/duration_converters/get_milliseconds'],
  'Kubernetes does not enable fields in backticks': [
    'fields/quoted_map_fields/field_access_dash',
    'fields/quoted_map_fields/field_access_dot',
    'fields/quoted_map_fields/field_access_slash',
    'fields/quoted_map_fields/has_field_dash',
    'fields/quoted_map_fields/has_field_dot',
    'fields/quoted_map_fields/has_field_slash',
  ],
}

function typeFor({ primitive, wellKnown, listType, mapType, type, abstractType, ...other }: SpecType): CelType {
  if (primitive !== undefined) return types[primitive.toLowerCase().replace(/64$/, '') as 'int']
  if (wellKnown !== undefined) return types[wellKnown.toLowerCase() as 'timestamp']
  if (listType !== undefined) return listOf(typeFor(listType.elemType ?? {}))
  if (mapType !== undefined) return mapOf(typeFor(mapType.keyType ?? {}), typeFor(mapType.valueType ?? {}))
  if (type !== undefined) return { kind: 'type', of: typeFor(type) }
  if (other.messageType === 'google.protobuf.Duration') return types.duration
  if (abstractType?.name === 'optional_type')
    return { kind: 'optional', of: typeFor(abstractType.parameterTypes?.[0] ?? {}) }
  if ('null' in other) return types.null
  return types.dyn
}

interface ListForm {
  readonly values?: readonly SpecValue[]
}

interface MapForm {
  readonly entries?: readonly { readonly key: SpecValue; readonly value: SpecValue }[]
}

const doubles: { readonly [text: string]: number } = { Infinity: Infinity, '-Infinity': -Infinity, NaN: Number.NaN }

/** Converts a value from its JSON form. */
function valueFor(spec: SpecValue): Value {
  const [[form, value] = ['nullValue', null] as const] = Object.entries(spec)
  switch (form) {
    case 'int64Value':
      return toInt(BigInt(value as string))
    case 'uint64Value':
      return new Uint(BigInt(value as string))
    case 'doubleValue':
      return new Double(typeof value === 'number' ? value : doubles[value as string]!)
    case 'bytesValue':
      return new Uint8Array(Buffer.from(value as string, 'base64'))
    case 'listValue':
      return new ArrayList(((value as ListForm).values ?? []).map(valueFor))
    case 'mapValue':
      return new LiteralMap(
        ((value as MapForm).entries ?? []).map((each) => [valueFor(each.key), valueFor(each.value)]),
      )
    case 'typeValue':
      return new TypeValue(value as string)
    case 'objectValue':
      return messageFor(value as { readonly '@type': string; readonly value: string })
    default:
      return value as Value
  }
}

function messageFor({ '@type': type, value }: { readonly '@type': string; readonly value: string }): Value {
  const isDuration = type.endsWith('.Duration')
  return (isDuration ? readDuration(value) : readDateTime(value)) as Value
}

/**
 * Whether two values are the same. Unlike the CEL operator `==`, distinguishes numbers of different types and treats
 * NaN as equal to itself.
 */
function isSame(a: Value, b: Value): boolean {
  if (kindOf(a) !== kindOf(b)) return false
  if (a instanceof Double && b instanceof Double) return Object.is(a.value, b.value) || a.value === b.value
  if (a instanceof CelList && b instanceof CelList)
    return a.size === b.size && a.toArray().every((item, i) => isSame(item, b.get(i)))
  if (a instanceof CelMap && b instanceof CelMap)
    return a.size === b.size && a.keys().every((key) => b.get(key) !== undefined && isSame(a.get(key)!, b.get(key)!))
  return equals({ budget: new Budget(Number.POSITIVE_INFINITY), pattern: () => assert.fail() }, a, b)
}

/** Reason to skip a test that disables type checking and whose expression would fail the type check. */
const unchecked = 'Kubernetes checks the types of every expression'

/** Returns a description of what is wrong with the outcome, or undefined if the test passes. */
function faultOf({ expr, typeEnv = [], bindings = {}, ...expected }: SpecTest): string | undefined {
  const declared = new Map(typeEnv.map(({ name, ident }) => [name, opaque(typeFor(ident?.type ?? {}))] as const))
  const variables = new Map([...declared].filter(([name]) => expected.checkOnly || name in bindings))
  const compiled = runToCompletion(compileRule(expr, { variables, readPattern, result: 'any', hasBind: true }))
  if (compiled.outcome === 'invalid') {
    if (expected.evalError !== undefined) return undefined
    return expected.disableCheck === true ? unchecked : compiled.why
  }
  const { program } = compiled
  const deduced = expected.typedResult?.deducedType
  if (deduced !== undefined && formatType(program.type) !== formatType(typeFor(deduced)))
    return `has type ${formatType(program.type)}`
  if (expected.checkOnly) return undefined
  try {
    const values = [...variables.keys()].map((name) => valueFor(bindings[name]!.value))
    const value = program.evaluate(values, new Budget(10_000_000))
    if (expected.evalError !== undefined) return `is ${shown(value)} instead of an error`
    return isSame(value, valueFor(expected.value ?? expected.typedResult?.result ?? { boolValue: true }))
      ? undefined
      : `is ${shown(value)}`
  } catch (error) {
    if (!(error instanceof CelError)) return `throws ${String(error)}`
    return expected.evalError === undefined ? error.message : undefined
  }
}

const opaque = (type: CelType): DeclaredType => ({ type, form: 'dynamic', maxElements: 100, minBytes: 1 })

const shown = (value: Value) =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each)) ?? String(value)

test('the server passes the conformance tests of the CEL specification, except for the parts that Kubernetes omits', async () => {
  const skipped = new Map<string, number>()
  const failed = new Map<string, string>()
  let passed = 0
  for (const placed of await conformanceTests()) {
    const reason = reasonToSkip(placed)
    if (reason !== undefined) {
      skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
      continue
    }
    const { file, section, spec } = placed
    const fault = faultOf(spec)
    if (fault === unchecked) skipped.set(fault, (skipped.get(fault) ?? 0) + 1)
    else if (fault === undefined) passed++
    else failed.set(`${file}/${section}/${spec.name}`, `${spec.expr} ${fault}`)
  }
  const count = passed + failed.size
  console.log(`# conformance: ${passed} of ${count} tests pass (${((100 * passed) / count).toFixed(1)}%)`)
  for (const [reason, number] of skipped) console.log(`# left out: ${number} tests. ${reason}.`)
  assert.ok(count > 1000)
  const known = Object.values(differences).flat()
  assert.deepEqual(
    [...failed].filter(([name]) => !known.includes(name)),
    [],
  )
  assert.deepEqual(
    known.filter((name) => !failed.has(name)),
    [],
  )
  for (const [reason, names] of Object.entries(differences)) console.log(`# fail: ${names.length} tests. ${reason}.`)
})
