/**
 * String formats that a schema can require. The accepted values are the same as in kube-apiserver. All other formats
 * are hints and are not validated.
 */
import { isIP, isIPv6 } from 'node:net'
import { checkDnsLabel, checkDnsSubdomain } from '../../../api/model/names.ts'
import { isSince, type RuleContext } from '../../../api/schema/context.ts'
import type { KubeVersion } from '../../../api/versions/emulated-version.ts'

const uuidOf = (third: string, fourth: string) =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i')
const variant = '[89ab][0-9a-f]{3}'
const anyFour = '[0-9a-f]{4}'
const pair = '[0-9A-Fa-f]{2}'
/**
 * Patterns for MAC addresses: pairs of digits separated by colons or dashes, or groups of four digits separated by
 * dots.
 */
const macForms = [6, 8, 20].flatMap((bytes) => [
  `${pair}(?::${pair}){${bytes - 1}}`,
  `${pair}(?:-${pair}){${bytes - 1}}`,
  `${pair}${pair}(?:\\.${pair}${pair}){${bytes / 2 - 1}}`,
])
const percentOrByte = String.raw`\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`

const texts: { readonly [format: string]: (text: string) => boolean } = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  uri: isRequestUri,
  email: matches(/^(?:[^<>@\s]+@[^<>@\s]+|[^<>]*<[^<>@\s]+@[^<>@\s]+>)$/),
  hostname: isHostName,
  ipv4: (text) => isIP(text) !== 0 && text.includes('.'),
  ipv6: isIPv6,
  cidr: isCidr,
  mac: matches(new RegExp(`^(?:${macForms.join('|')})$`)),
  uuid: matches(uuidOf(anyFour, anyFour)),
  uuid3: matches(uuidOf('3[0-9a-f]{3}', anyFour)),
  uuid4: matches(uuidOf('4[0-9a-f]{3}', variant)),
  uuid5: matches(uuidOf('5[0-9a-f]{3}', variant)),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCardNumber,
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(new RegExp(`^rgb\\(${percentOrByte},${percentOrByte},${percentOrByte}\\)$`)),
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => checkDnsLabel(text).length === 0,
  k8slongname: (text) => checkDnsSubdomain(text).length === 0,
}

/** The first version that validates a format. Formats that are not listed are validated in all versions. */
const firstVersions: { readonly [format: string]: KubeVersion } = { k8sshortname: '1.35', k8slongname: '1.35' }

/**
 * Returns the name of a format, without dashes, if the server validates values against this format. Returns undefined
 * for other formats. Without a context, accepts the formats of all versions.
 */
export function knownFormat(format: unknown, context?: RuleContext): string | undefined {
  const name = typeof format === 'string' ? format.replaceAll('-', '') : ''
  if (!Object.hasOwn(texts, name)) return undefined
  const since = firstVersions[name]
  return since === undefined || context === undefined || isSince(since, context) ? name : undefined
}

const hints: ReadonlySet<string> = new Set(['int32', 'int64', 'float', 'double'])

/** Whether the format describes a number. */
export function isHint(format: string): boolean {
  return hints.has(format)
}

/**
 * Whether a string matches a known format. Rejects very long strings without matching them, except for base64 and
 * passwords.
 */
export function hasFormat(format: string, text: string): boolean {
  return (text.length <= maxTextLength || format === 'byte' || format === 'password') && texts[format]!(text)
}

const maxTextLength = 4096

function matches(form: RegExp): (text: string) => boolean {
  return (text) => form.test(text)
}

/** Whether the string is a host name of letters, digits and symbols in any script. */
function isHostName(text: string): boolean {
  if (text.length > 255) return false
  // V8 takes 2.5 ms to parse these Unicode classes. A regular expression literal inside a function is parsed on first
  // use rather than at startup.
  const form =
    /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]){1,62})$/u
  return form.test(text) && text.split('.').every((label) => label.length <= 63)
}

/** Whether the string is an absolute URI or an absolute path. */
function isRequestUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: URIs must not contain control characters
  if (text === '' || /[\s\u0000-\u001f\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false
  return text.startsWith('/') || /^[a-zA-Z][-a-zA-Z0-9+.]*:/.test(text)
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/')
  const family = isIP(address)
  return family !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) return false
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
  const days = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return month >= 1 && month <= 12 && day >= 1 && day <= days
}

const timeOfDay = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/

function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t')
  const match = timeOfDay.exec(time)
  return isDate(date) && match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59'
}

const goDuration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const unit = /^(?:ns|nano|us|µs|ms|s|m|h|hr|d|w|wk|(?:micro|milli|sec|min|hour|day|week).*)$/

/** Whether the string is a Go duration, or a number followed by the name of a unit, such as `3 days`. */
function isDuration(text: string): boolean {
  if (goDuration.test(text)) return true
  // Checking the last digit of each number is sufficient, and keeps the running time linear.
  return [...text.matchAll(/\d\s*([A-Za-zµ]+)/g)].some(([, name]) => unit.test(name!.toLowerCase()))
}

function digitsOf(text: string): string {
  return text.replaceAll(/[\s-]+/g, '')
}

function isIsbn10(text: string): boolean {
  const digits = digitsOf(text)
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const sum = [...digits].reduce((all, digit, i) => all + (i + 1) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = digitsOf(text)
  if (!/^\d{13}$/.test(digits)) return false
  return [...digits].reduce((sum, digit, i) => sum + Number(digit) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0
}

const card =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/

function isCardNumber(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, '')
  if (!card.test(digits)) return false
  const sum = [...digits].reverse().reduce((all, digit, i) => {
    const doubled = Number(digit) * (i % 2 === 0 ? 1 : 2)
    return all + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}
