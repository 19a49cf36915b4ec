/**
 * Tests quantities: which texts are valid, how they are formatted, and that parsing, comparing and adding are exact.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  int64Value,
  parseQuantity,
  type Quantity,
  quantitySign,
  roundUpToMilli,
} from '../../../src/api/model/quantity.ts'
import { type RandomSource, seeded } from '../../storage/store/random-source.ts'

const canonical: { readonly [text: string]: string } = {
  // The decimal format uses the largest suffix that needs no fraction.
  '0': '0',
  '-0': '0',
  '00': '0',
  '0.0': '0',
  '0Ki': '0',
  '0m': '0',
  '1': '1',
  '1000': '1k',
  '1000k': '1M',
  '1048576': '1048576',
  '1000m': '1',
  '500m': '500m',
  '0.1': '100m',
  '.5': '500m',
  '1.50': '1500m',
  '-0.5': '-500m',
  '1000000n': '1m',
  '10u': '10u',
  '1E': '1E',
  '1000E': '1e21',
  '12345678901234567890': '12345678901234567890',
  '18446744073709551616000': '18446744073709551616k',
  // An integer of at least 1024 keeps its binary format.
  '1Ki': '1Ki',
  '1024Ki': '1Mi',
  '1024Mi': '1Gi',
  '1000Mi': '1000Mi',
  '0.5Gi': '512Mi',
  '1.5Gi': '1536Mi',
  '-1024Mi': '-1Gi',
  '0.5Ki': '512',
  '0.1Ki': '102400m',
  '1.1Ki': '1126400m',
  '0.0001Ki': '102400u',
  '7Ei': '7Ei',
  '8Ei': '9223372036854775807',
  '-100Ei': '-9223372036854775807',
  // A quantity in exponent notation keeps this notation, and the exponent becomes a multiple of three.
  '1e3': '1e3',
  '1E3': '1E3',
  '1e+3': '1e+3',
  '1e4': '10e3',
  '5e-1': '500e-3',
  '1000e0': '1e3',
  '0.5e1': '5',
  '1e100': '10e99',
  // Digits finer than a billionth are rounded away from zero.
  '0.1n': '1n',
  '-0.1n': '-1n',
  '1.0000000001': '1000000001n',
  '1e-100': '1e-9',
  '0.00000000000000000001Ei': '11529216n',
  // A number that already fits its suffix is kept as written.
  '1.250': '1.250',
  '1.234567': '1.234567',
  '+5': '+5',
  '05': '05',
  '5.': '5.',
  '+1Ti': '+1Ti',
  '+100Ti': '100Ti',
  '+1Pi': '1Pi',
  '+8Ki': '8Ki',
  '+123456789012345678': '+123456789012345678',
  '+1234567890123456789': '1234567890123456789',
  '1.000': '1',
  '0.125': '125m',
}

test('a quantity is formatted in its canonical form', () => {
  for (const [text, expected] of Object.entries(canonical)) assert.equal(canonicalQuantity(text), expected, text)
})

test('an invalid quantity is rejected', () => {
  const bad = ['', '.', '+', '-', 'Ki', 'e3', '1GB', '1K', '1ki', '1i', '1mi', '1e', '1e+', '1e1.5', '1.1.1', '1,5']
  const worse = [
    '--1',
    '1 Gi',
    '1Gi ',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '１',
    '1+5',
    '1m5',
    '1Ki5',
    '1e101',
    '1e-101',
  ]
  const long = ['1'.repeat(101), `${'0'.repeat(99)}1x`, `1e${'0'.repeat(200)}1`, 'constructor', '1constructor']
  for (const text of [...bad, ...worse, ...long]) {
    assert.equal(parseQuantity(text), undefined, text)
    assert.equal(canonicalQuantity(text), undefined, text)
  }
})

test('comparison, sign and sum of quantities depend on the amount, not on the format', () => {
  const rising = [
    '-1Gi',
    '-1',
    '-1n',
    '0',
    '1n',
    '999u',
    '1m',
    '0.5',
    '1',
    '1e3',
    '1Ki',
    '1M',
    '1Mi',
    '1E',
    '1Ei',
    '1e30',
  ]
  for (const [i, a] of rising.entries())
    for (const [j, b] of rising.entries())
      assert.equal(compareQuantities(quantity(a), quantity(b)), Math.sign(i - j), `${a} and ${b}`)
  assert.deepEqual(
    ['-1m', '0Gi', '1e-9'].map((text) => quantitySign(quantity(text))),
    [-1, 0, 1],
  )
  assert.equal(compareQuantities(quantity('1.5Gi'), quantity('1536Mi')), 0)
})

test('a sum of quantities has the format of the first operand that is not zero', () => {
  const sums = [
    ['1Gi', '1Gi', '2Gi'],
    ['512Mi', '512Mi', '1Gi'],
    ['1Gi', '1', '1073741825'],
    ['0', '1Ki', '1Ki'],
    ['900m', '100m', '1'],
    ['1', '24Ki', '24577'],
    ['1e3', '1k', '2e3'],
    ['1Gi', '-1Gi', '0'],
    ['1E', '1n', '1000000000000000000000000001n'],
  ] as const
  for (const [a, b, sum] of sums) assert.equal(formatQuantity(addQuantities(quantity(a), quantity(b))), sum)
})

test('a quantity that overflows 64 bits becomes 0 for large suffixes, and otherwise keeps the lowest 64 bits', () => {
  const values = {
    '1.5': 2n,
    '-1500m': -2n,
    '9223372036854775807': 2n ** 63n - 1n,
    '9E': 9n * 10n ** 18n,
    '12E': 0n,
    '-12E': 0n,
    '1e30': 0n,
    '9223372036854775808': -(2n ** 63n),
    '16Ei': 2n ** 63n - 1n,
    '12000000000000G': BigInt.asIntN(64, 12n * 10n ** 21n),
  }
  for (const [text, value] of Object.entries(values)) assert.equal(int64Value(text), value, text)
})

test('a quantity in any format can be rounded up to thousandths', () => {
  const rounded = { '1n': '1m', '-1n': '-1m', '1500u': '2m', '1.5Gi': '1536Mi', '1.0001Ki': '1024103m' }
  for (const [text, expected] of Object.entries(rounded))
    assert.equal(formatQuantity(roundUpToMilli(quantity(text))), expected)
})

test('a round trip changes neither the amount nor the text of a quantity', () => {
  const random = seeded(11)
  for (let i = 0; i < 5000; i++) {
    const text = randomText(random)
    const read = quantity(text)
    const written = canonicalQuantity(text)!
    assert.equal(quantity(written).nanos, read.nanos, text)
    assert.equal(quantity(formatQuantity(read)).nanos, read.nanos, text)
    assert.equal(canonicalQuantity(written), written, text)
    assert.equal(canonicalQuantity(formatQuantity(read)), formatQuantity(read), text)
  }
})

test('the amount of a quantity equals the result of exact arithmetic, rounded up to billionths', () => {
  const random = seeded(12)
  for (let i = 0; i < 2000; i++) {
    const text = randomText(random)
    const { top, bottom } = fractionOf(text)
    const { nanos } = quantity(text)
    const exact = top * 1_000_000_000n
    const over = (nanos < 0n ? -nanos : nanos) * bottom - (exact < 0n ? -exact : exact)
    assert.ok(over >= 0n && over < bottom, text)
  }
})

function quantity(text: string): Quantity {
  const parsed = parseQuantity(text)
  assert.ok(parsed, `${text} is a quantity`)
  return parsed
}

const suffixes = [
  '',
  'n',
  'u',
  'm',
  'k',
  'M',
  'G',
  'T',
  'P',
  'E',
  'Ki',
  'Mi',
  'Gi',
  'Ti',
  'Pi',
  'e0',
  'e3',
  'E-7',
  'e+20',
]

/** Returns a random quantity as text. The amount is too small for binary quantities to be capped. */
function randomText(random: RandomSource): string {
  const digits = (n: number) => Array.from({ length: n }, () => (random.chance(1 / 3) ? random.below(10) : 0)).join('')
  const whole = `${digits(random.below(3))}${random.below(5)}`
  const fraction = random.chance(1 / 2) ? `.${digits(random.below(14))}` : ''
  return `${random.pick(['', '', '', '-', '+'])}${whole}${fraction}${random.pick(suffixes)}`
}

const powers = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 } as const
const binary = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n } as const

/** Computes the amount as a fraction, independently of the tested code. */
function fractionOf(text: string): { top: bigint; bottom: bigint } {
  const number = /^[+-]?[0-9]+(\.[0-9]*)?/.exec(text)![0]
  const suffix = text.slice(number.length)
  const [whole = '', fraction = ''] = number.replace(/^[+-]/, '').split('.')
  let top = BigInt(whole + fraction)
  let bottom = 10n ** BigInt(fraction.length)
  const power = /^[eE]./.test(suffix) ? Number(suffix.slice(1)) : (powers[suffix as keyof typeof powers] ?? 0)
  if (power < 0) bottom *= 10n ** BigInt(-power)
  else top *= 10n ** BigInt(power)
  top *= 2n ** (binary[suffix as keyof typeof binary] ?? 0n)
  return { top: number.startsWith('-') ? -top : top, bottom }
}
