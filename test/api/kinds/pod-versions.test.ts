/** Pod in later Kubernetes versions: fields, rules and defaults that 1.23 does not have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { pod } from '../../../src/api/kinds/core/pod.ts'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { createBy, updateBy } from './rules.ts'

const main = { name: 'main', image: 'app:1' }

function podWith(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name: 'a', namespace: 'b', ...metadata }, spec: { containers: [main], ...spec } }
}

test('since 1.33, the generation of a pod counts the changes of its spec', () => {
  const generationsOf = (version: EmulatedVersion) => {
    const { object: first } = createBy(pod, podWith(), { version })
    const sent = [podWith(), podWith({}, { labels: { a: 'b' } }), podWith({ activeDeadlineSeconds: 5 })]
    return [first, ...sent.map((each) => updateBy(pod, first, each, { version }).object)].map(
      ({ metadata }) => metadata.generation,
    )
  }
  // The registry copies the stored generation before the rules run.
  assert.deepEqual(generationsOf('1.33'), [1, undefined, undefined, 2])
  assert.deepEqual(generationsOf('1.32'), [undefined, undefined, undefined, undefined])
})
