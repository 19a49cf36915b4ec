/**
 * Tests the order of fields in the definitions, which determines the order of members in JSON responses and must be the
 * same as in the Go types of Kubernetes. For most types, this is the order of the Protobuf numbers. `member-order.json`
 * contains the order for all other types.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as metaTypes from '../../../src/api/schema/meta-types.ts'
import type { Field, ObjectSchema, Schema } from '../../../src/api/schema/schema.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const notByNumber: { readonly [type: string]: string } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../data/member-order.json'), 'utf8'),
)

interface Named {
  readonly name: string
  readonly schema: ObjectSchema
}

/**
 * Yields every object type that a schema contains, together with its full name. `home` is the group and version for
 * names without a package.
 */
function* typesBelow(schema: Schema, home: string, seen: Set<string>): Generator<Named> {
  if (schema.type === 'any' && schema.described) yield* typesBelow(schema.described(vendorOf('orch')), home, seen)
  if (schema.type === 'list') yield* typesBelow(schema.items, home, seen)
  if (schema.type === 'map') yield* typesBelow(schema.values, home, seen)
  if (schema.type !== 'object' || schema.name === undefined) return
  const name = schema.name.includes('.') ? schema.name : `${home}.${schema.name}`
  if (seen.has(name)) return
  seen.add(name)
  yield { name, schema }
  for (const field of Object.values(schema.fields)) yield* typesBelow(field.schema, parentOf(name), seen)
}

function parentOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

/**
 * Compares two fields by number. A field that Protobuf encodes in a nested message is sorted by the message's field
 * number.
 */
function byNumber([, a]: readonly [string, Field], [, b]: readonly [string, Field]): number {
  const [first, second] = [numbersOf(a), numbersOf(b)]
  const differing = first.findIndex((number, i) => number !== second[i])
  return differing < 0 ? 0 : first[differing]! - (second[differing] ?? 0)
}

function numbersOf({ within = [], tag }: Field): number[] {
  return [...within, tag]
}

test('the fields of all types are in the order of their Protobuf numbers, except for a list of known exceptions', () => {
  const seen = new Set<string>()
  const metas = Object.values(metaTypes).filter((type) => typeof type !== 'function')
  const types = [
    ...allKinds.flatMap((kind) => [...typesBelow(kind.schema, `${kind.group}.${kind.version}`, seen)]),
    ...metas.flatMap((type) => [...typesBelow(type, 'meta.v1', seen)]),
  ]
  for (const { name, schema } of types) {
    const expected =
      notByNumber[name]?.split(' ') ??
      Object.entries(schema.fields)
        .toSorted(byNumber)
        .map(([key]) => key)
    assert.deepEqual(Object.keys(schema.fields), expected, name)
  }
  assert.deepEqual(
    Object.keys(notByNumber).filter((name) => !seen.has(name)),
    [],
    'types that do not exist',
  )
})

test('every object begins with the fields kind, apiVersion and metadata', () => {
  for (const { kind, schema } of allKinds)
    assert.deepEqual(Object.keys(schema.fields).slice(0, 3), ['kind', 'apiVersion', 'metadata'], kind)
})

test('the list of mutually exclusive volume sources contains every volume source', () => {
  const seen = new Set<string>()
  const types = allKinds.flatMap((kind) => [...typesBelow(kind.schema, `${kind.group}.${kind.version}`, seen)])
  const volumes = types.filter(({ name }) => name === 'core.v1.Volume' || name === 'core.v1.PersistentVolumeSpec')
  assert.equal(volumes.length, 2)
  for (const { name, schema } of volumes) {
    const sources = Object.entries(schema.fields).filter(([, { within }]) => within !== undefined)
    assert.deepEqual([...schema.choice!.among].sort(), sources.map(([key]) => key).sort(), name)
  }
})
