/**
 * Compares the three patch types with models, field selectors with a full scan, and objects of every kind in JSON with
 * the same objects in YAML.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { parseJson, stringifyJson } from '../../src/api/codec/json.ts'
import { parseYaml } from '../../src/api/codec/yaml.ts'
import type { Json, JsonObject } from '../../src/api/json/json.ts'
import { kindsOfVersion } from '../../src/api/kinds/of-version.ts'
import { applyJsonPatch, parseJsonPatch } from '../../src/api/merge/json-patch.ts'
import { applyMergePatch } from '../../src/api/merge/merge-patch.ts'
import { applyStrategicMergePatch } from '../../src/api/merge/strategic-merge-patch.ts'
import { decode } from '../../src/api/schema/decode.ts'
import { field, type Schema, s } from '../../src/api/schema/schema.ts'
import { FieldMatcher, parseFieldSelector } from '../../src/api/selectors/field-selector.ts'
import { makeObject, makingFrom } from '../api/kinds/random-object.ts'
import { validValues } from '../api/kinds/valid-values.ts'
import {
  canonical,
  deepFreeze,
  modelJsonPatch,
  modelMergePatch,
  randomOperations,
  randomValue,
  seeded,
  type Value,
} from '../api/merge/models.ts'
import { modelStrategic, randomOf, sorted, type Type } from '../api/merge/strategic-model.ts'
import { seeded as seededChoices } from '../storage/store/random-source.ts'
import { damaged } from './documents.ts'
import { fieldsMatch, fieldTerms } from './query-model.ts'
import { rounds, seed, tell, unlessRefused } from './scale.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

test('fuzzed JSON patches have the same result as a simple model', () => {
  const random = seeded(seed + 20)
  const counts = { patches: rounds(750, 50_000), applied: 0, differences: 0 }
  for (let i = 0; i < counts.patches; i++) {
    const document = deepFreeze(randomValue(random, 4))
    const operations = randomOperations(random, document)
    const expected = modelJsonPatch(document, operations)
    const actual = unlessRefused(() => applyJsonPatch(document as Json, parseJsonPatch(operations as unknown as Json)))
    const refused = expected === 'refused'
    assert.equal(
      actual === undefined ? 'refused' : canonical(actual as Value),
      refused ? expected : canonical(expected),
      `${JSON.stringify(document)} by ${JSON.stringify(operations)}`,
    )
    if (!refused) counts.applied++
  }
  assert.ok(counts.applied > counts.patches / 5)
  tell('JSON patches', counts)
})

test('fuzzed merge patches have the same result as a simple model', () => {
  const random = seeded(seed + 21)
  const count = rounds(750, 50_000)
  for (let i = 0; i < count; i++) {
    const document = deepFreeze(randomValue(random, 4))
    const patch = deepFreeze(randomValue(random, 4))
    const actual = applyMergePatch(document as Json, patch as Json) as Value
    assert.equal(canonical(actual), canonical(modelMergePatch(document, patch)), JSON.stringify([document, patch]))
  }
  tell('merge patches', { patches: count, differences: 0 })
})

const text: Type = { is: 'text' }
const inner: Type = {
  is: 'object',
  fields: { name: text, x: text, list: { is: 'set' }, map: { is: 'map', values: text } },
}
const type: Type = {
  is: 'object',
  fields: {
    text,
    map: { is: 'map', values: text },
    deep: { is: 'map', values: inner },
    list: { is: 'replaced' },
    set: { is: 'set' },
    keyed: {
      is: 'keyed',
      key: 'name',
      items: { is: 'object', fields: { name: text, part: inner, more: { is: 'keyed', key: 'name', items: inner } } },
    },
  },
}

/** Returns the type as a schema. */
function schemaOf(type: Type): Schema {
  switch (type.is) {
    case 'object':
      return s.object(
        Object.fromEntries(Object.entries(type.fields).map(([name, one], i) => [name, field(i + 1, schemaOf(one))])),
      )
    case 'map':
      return s.map(schemaOf(type.values))
    case 'replaced':
      return s.list(s.string())
    case 'set':
      return s.list(s.string(), { list: 'set', patch: 'merge' })
    case 'keyed':
      return s.list(schemaOf(type.items) as never, {
        list: 'map',
        keys: [type.key],
        patch: 'merge',
        mergeKey: type.key,
      })
    case 'text':
      return s.string()
  }
}

test('fuzzed strategic merge patches have the same result as a simple model', () => {
  const random = seeded(seed + 22)
  const schema = schemaOf(type)
  const counts = { patches: rounds(750, 50_000), changed: 0, differences: 0 }
  for (let i = 0; i < counts.patches; i++) {
    const document: Value = deepFreeze(randomOf(random, type, false))
    const patch = deepFreeze(randomOf(random, type, true)) as { [name: string]: Value }
    const actual = applyStrategicMergePatch(schema, document as Json, patch as JsonObject) as Value
    assert.equal(
      canonical(sorted(type, actual)),
      canonical(sorted(type, modelStrategic(type, document, patch))),
      `${JSON.stringify(document)} by ${JSON.stringify(patch)}`,
    )
    if (canonical(actual) !== canonical(document)) counts.changed++
  }
  assert.ok(counts.changed > counts.patches / 2)
  tell('strategic merge patches', counts)
})

test('random field selectors match the same objects as a full scan', () => {
  const random = seededChoices(seed + 23)
  const paths = ['metadata.name', 'a', 'spec.x', '__proto__']
  const values = ['', 'x', 'a,b', 'c=d', '\\', 'constructor']
  const counts = { selectors: rounds(1500, 100_000), accepted: 0, differences: 0 }
  for (let i = 0; i < counts.selectors; i++) {
    const terms = Array.from({ length: 1 + random.below(4) }, () => {
      const value = random.pick(values).replaceAll(/[\\,=]/g, '\\$&')
      return `${random.pick(paths)}${random.pick(['=', '==', '!='])}${value}`
    }).join()
    const selector = random.chance(0.5) ? terms : damaged(random, terms).toString()
    const expected = fieldTerms(selector)
    const actual = unlessRefused(() => parseFieldSelector(selector))
    assert.equal(actual === undefined, expected === undefined, JSON.stringify(selector))
    if (actual === undefined) continue
    counts.accepted++
    const matcher = new FieldMatcher(actual)
    for (let object = 0; object < 10; object++) {
      const found = new Map(paths.map((path) => [path, random.pick(values)]))
      const fieldOf = (path: string) => found.get(path) ?? ''
      const context = `${JSON.stringify(selector)} on ${JSON.stringify([...found])}`
      assert.equal(matcher.matches(fieldOf), fieldsMatch(expected!, fieldOf), context)
    }
  }
  tell('field selectors', counts)
})

test('a random object is the same in JSON and in YAML', () => {
  const count = rounds(10, 1000)
  let objects = 0
  for (const { kind, version, schema } of allKinds)
    for (let i = 0; i < count; i++) {
      const object = makeObject(schema, makingFrom(seed * 100_000 + i), validValues)
      const json = Buffer.from(stringifyJson(object))
      const yaml = Buffer.from(stringify(JSON.parse(json.toString()), { aliasDuplicateObjects: false }))
      const fromJson = decode(schema, parseJson(json).value)
      const fromYaml = decode(schema, parseYaml(yaml, 3 * 1024 * 1024).value)
      assert.deepEqual(fromYaml, fromJson, `${kind} ${version}: ${yaml}`)
      objects++
    }
  tell('objects in both forms', { objects, differences: 0 })
})
