/** Tests that the PEM parser finds blocks even if other text surrounds or interrupts them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPemBlocks } from '../../../src/api/pki/pem.ts'

const good = '-----BEGIN A-----\naGVsbG8=\n-----END A-----\n'

const texts: [string, string, string[]][] = [
  ['nothing', '', []],
  ['a block', good, ['A:hello']],
  ['no newline at the end', good.trimEnd(), ['A:hello']],
  ['carriage returns and trailing whitespace', good.replaceAll('\n', ' \t\r\n'), ['A:hello']],
  ['text around', `before\n${good}between\n${good}after`, ['A:hello', 'A:hello']],
  ['a begin mark within a line', `x${good}`, []],
  ['header lines', '-----BEGIN A-----\nX: 1\n\naGVsbG8=\n-----END A-----', ['A:hello with headers']],
  ['a colon in the content', '-----BEGIN A-----\naGVs\nb:G8=\n-----END A-----', []],
  ['an empty block', '-----BEGIN A-----\n-----END A-----', ['A:']],
  ['no end', '-----BEGIN A-----\naGVsbG8=\n', []],
  ['another label at the end', '-----BEGIN A-----\naGVsbG8=\n-----END B-----\n', []],
  ['text after the end mark', '-----BEGIN A-----\naGVsbG8=\n-----END A-----x\n', []],
  ['invalid base64', '-----BEGIN A-----\naGV$bG8=\n-----END A-----', []],
  ['base64 without padding', '-----BEGIN A-----\naGVsbG8\n-----END A-----', []],
  ['padding in the middle', '-----BEGIN A-----\naA==aGVs\n-----END A-----', []],
  ['a broken block before a good one', `-----BEGIN A-----\n???\n-----END A-----\n${good}`, ['A:hello']],
  ['a block that restarts', `-----BEGIN B-----\naGVs\n${good}`, ['A:hello']],
  ['an end without a begin', `-----END A-----\n${good}`, ['A:hello']],
  ['no label', '-----BEGIN -----\naGVsbG8=\n-----END -----', [':hello']],
]

for (const [name, text, expected] of texts) {
  test(`PEM input is parsed: ${name}`, () => {
    const found = [...readPemBlocks(Buffer.from(text))].map(
      ({ label, bytes, hasHeaders }) => `${label}:${bytes}${hasHeaders ? ' with headers' : ''}`,
    )
    assert.deepEqual(found, expected)
  })
}

test('megabytes of BEGIN lines are parsed in a single pass', () => {
  const begins = '-----BEGIN A-----\n'.repeat(150_000)
  assert.equal([...readPemBlocks(Buffer.from(`${begins}-----END B-----\n`))].length, 0)
  assert.equal([...readPemBlocks(Buffer.from(`${begins}aGVsbG8=\n-----END A-----\n`))].length, 1)
})
