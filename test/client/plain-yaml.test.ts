/**
 * Tests the simple YAML parser with real kubeconfigs and random fragments. The parser returns either the same result as
 * the library or nothing.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadAll } from 'js-yaml'
import { adminKubeconfig } from '../../src/client/node/kubeconfig-write.ts'
import { parsePlainYaml } from '../../src/client/node/plain-yaml.ts'

const ours = adminKubeconfig({
  cluster: 'orch',
  server: 'https://127.0.0.1:6443',
  authority: 'a',
  certificate: 'b',
  key: 'c',
})

/** A kubeconfig in the format that kubectl writes. */
const theirs = `# mine
apiVersion: v1
clusters:
- cluster:
    certificate-authority: /home/me/ca.crt
    insecure-skip-tls-verify: false
    server: https://10.0.0.1:6443
  name: prod
- cluster:
    server: "https://[::1]:6443"
  name: test

contexts:
- context:
    cluster: prod
    namespace: shop
    user: me@prod
  name: prod
current-context: prod
kind: Config
preferences: {}
users:
- name: me@prod
  user:
    as-groups: []
    token: eyJhbGciOiJub25lIn0.e30.abc-_=
`

const indented = `clusters:
  - name: c
    cluster:
      server: https://host
    # between
  - name: d
    cluster: {}
kind: Config
`

for (const [writer, text] of Object.entries({ ours, theirs, indented }))
  test(`the simple YAML parser can read the kubeconfig of ${writer}`, () =>
    assert.deepEqual(parsePlainYaml(text), loadAll(text)[0]))

/** Returns the value that the library parses from the text, or `refused` if the library rejects the text. */
function byLibrary(text: string): unknown {
  try {
    return loadAll(text)[0]
  } catch {
    return 'refused'
  }
}

const lines = [
  ...[
    'a: b',
    'a: "b"',
    'a: yes',
    'a: null',
    'a: 1',
    'a: true',
    'a: True',
    'a: {}',
    'a: []',
    'a:',
    'a: b:',
    'a: "b\\n"',
  ],
  ...['yes: a', '- a: b', '- a', '-', '  b: c', '    c: d', '  - d: e', '- e: f', ' x: y', '  # c', 'b: |', 'b: b c'],
  ...['b: &x y', 'b: *x', 'b: c # d', '"b": c', 'b : c', 'b:c', '\tb: c', 'b: c ', '---', '...', 'b: !x y', 'b: a/b=='],
  ...['__proto__: a', 'constructor: a', 'b: 0x1', 'b: Infinity', 'b: 2020-01-01', "b: 'c'", 'b: ~', 'b: <<', '<<: a'],
]

test('for any three lines of YAML, the simple parser either returns the same result as the full parser or declines to parse them', () => {
  let plain = 0
  for (const one of lines)
    for (const two of lines)
      for (const three of ['', ...lines]) {
        const text = `${one}\n${two}\n${three}`
        const value = parsePlainYaml(text)
        if (value === undefined) continue
        plain++
        assert.deepEqual(value, byLibrary(text), text)
      }
  assert.ok(plain > 100, `only ${plain} were plain`)
})
