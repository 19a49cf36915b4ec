/**
 * Functions that validate strings against named formats, available since Kubernetes 1.31. For example,
 * `format.dns1123Label().validate(text)` returns an optional with the errors.
 */
import {
  asPrefix,
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
} from '../../model/names.ts'
import { sizeOf } from '../compare.ts'
import { define, type Functions, introducedIn } from '../overload.ts'
import { times, traversal } from '../size.ts'
import { readDate, readDateTime } from '../time-text.ts'
import { ArrayList, CelError, none, Opaque, Optional, type Value } from '../values.ts'

interface FormatRule {
  readonly check: (text: string) => readonly string[]
  /** Length of the equivalent regular expression, which determines the cost of the format. */
  readonly patternSize: number
}

class Format extends Opaque {
  readonly kind = 'format'
  readonly text: string
  readonly rule: FormatRule

  constructor(name: string, rule: FormatRule) {
    super()
    this.text = name
    this.rule = rule
  }
}

const uuid = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Maximum length of a URI. Longer strings are rejected. */
const maxUri = 65_536

function checkUri(text: string): string[] {
  const isAbsolute = text.startsWith('/') || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)
  return text.length <= maxUri && isAbsolute && (text.startsWith('/') || URL.canParse(text))
    ? []
    : ['must be an absolute URI or path']
}

const must = (test: (text: string) => boolean, why: string) => (text: string) => (test(text) ? [] : [why])

function isReadable(read: (text: string) => unknown): (text: string) => boolean {
  return (text) => {
    try {
      read(text)
      return true
    } catch (error) {
      if (error instanceof CelError) return false
      throw error
    }
  }
}

const rules: { readonly [name: string]: FormatRule } = {
  dns1123Label: { check: checkDnsLabel, patternSize: 30 },
  dns1123Subdomain: { check: checkDnsSubdomain, patternSize: 60 },
  dns1035Label: { check: checkDns1035Label, patternSize: 30 },
  qualifiedName: { check: checkQualifiedName, patternSize: 60 },
  dns1123LabelPrefix: { check: asPrefix(checkDnsLabel), patternSize: 30 },
  dns1123SubdomainPrefix: { check: asPrefix(checkDnsSubdomain), patternSize: 60 },
  dns1035LabelPrefix: { check: asPrefix(checkDns1035Label), patternSize: 30 },
  labelValue: { check: checkLabelValue, patternSize: 40 },
  uri: { check: checkUri, patternSize: 1 },
  uuid: { check: must((text) => uuid.test(text), 'does not match the UUID format'), patternSize: 45 },
  byte: { check: must((text) => base64.test(text), 'invalid base64'), patternSize: 1 },
  date: { check: must(isReadable(readDate), 'invalid date'), patternSize: 21 },
  datetime: { check: must(isReadable(readDateTime), 'invalid datetime'), patternSize: 60 },
}
/** Regular expression length that the cost estimate assumes for every format. */
const maxPatternSize = 128

const formats = new Map(Object.entries(rules).map(([name, rule]) => [name, new Format(name, rule)]))

function costOf(length: number, patternSize: number): number {
  return traversal(length + 1) * Math.ceil(patternSize / 4)
}

function validate(format: Value, text: Value): Optional {
  const errors = (format as Format).rule.check(text as string)
  return errors.length === 0 ? none : new Optional(new ArrayList([...errors]))
}

export const namedFormats: Functions = introducedIn(
  31,
  new Map([
    ...[...formats].map(([name, format]) => [`format.${name}`, [define('() format', () => format)]] as const),
    [
      'format.named',
      [
        define('(string) optional(format)', (_, [name]) => {
          const format = formats.get(name as string)
          return format === undefined ? none : new Optional(format)
        }),
      ],
    ] as const,
    [
      'validate',
      [
        define('format.(string) optional(list(string))', (_, [format, text]) => validate(format!, text!), {
          actual: ([format, text]) => costOf(sizeOf(text!), (format as Format).rule.patternSize),
          estimate: ([, text]) => ({ cost: times(traversal(text!.size.max), maxPatternSize / 4) }),
        }),
      ],
    ] as const,
  ]),
)
