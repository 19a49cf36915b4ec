/**
 * The formats of names. Each check returns a list of messages, which is empty if the name is valid. Lengths are checked
 * before patterns, and no pattern can backtrack, so checking even a megabyte of almost valid input is cheap.
 */
import { isIPv4 } from 'node:net'

/** Returns the errors in a name. The list is empty if the name is valid. */
export type NameCheck = (name: string) => string[]

const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const label1035 = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/
/**
 * Matches most subdomains: words separated by single characters. This pattern is a fast path for the complete check.
 */
const plainSubdomain = /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/
const subdomainPart = /^[a-z0-9-]+$/
const qualifiedPart = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/
/**
 * Matches most keys: words of letters and digits, with an optional plain subdomain before a slash. This pattern is a
 * fast path for the complete check.
 */
const plainQualified = /^(?:[a-z0-9]+(?:[-.][a-z0-9]+)*\/)?[A-Za-z0-9]+(?:[_.-][A-Za-z0-9]+)*$/

const labelRule =
  "a lowercase RFC 1123 label must consist of lower case letters, digits or '-', and must start and end with a letter or digit (e.g. 'my-name' or '123-abc')"
const label1035Rule =
  "a DNS-1035 label must consist of lower case letters, digits or '-', start with a letter, and end with a letter or digit (e.g. 'my-name' or 'abc-123')"
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case letters, digits, '-' or '.', and must start and end with a letter or digit (e.g. 'example.com')"
const qualifiedRule =
  "name part must consist of letters, digits, '-', '_' or '.', and must start and end with a letter or digit (e.g. 'MyName' or 'my.name' or '123-abc')"
const labelValueRule =
  "a valid label must be an empty string or consist of letters, digits, '-', '_' or '.', and must start and end with a letter or digit (e.g. 'MyValue' or 'my_value' or '12345')"

/** Validates a DNS label (RFC 1123): up to 63 lower-case letters, digits and dashes. */
export function checkDnsLabel(name: string): string[] {
  if (name.length > 63) return [atMost(63), ...(label.test(name.slice(0, 1000)) ? [] : [labelRule])]
  return label.test(name) ? [] : [labelRule]
}

/** Validates a DNS label that does not start with a digit (RFC 1035), as required for Service names. */
export function checkDns1035Label(name: string): string[] {
  if (name.length > 63) return [atMost(63), ...(label1035.test(name.slice(0, 1000)) ? [] : [label1035Rule])]
  return label1035.test(name) ? [] : [label1035Rule]
}

/** Validates a DNS subdomain (RFC 1123): labels separated by dots, up to 253 characters. */
export function checkDnsSubdomain(name: string): string[] {
  if (name.length > 253) return [atMost(253), ...(isSubdomain(name.slice(0, 1000)) ? [] : [subdomainRule])]
  return isSubdomain(name) ? [] : [subdomainRule]
}

function isSubdomain(name: string): boolean {
  return (
    plainSubdomain.test(name) ||
    name.split('.').every((part) => subdomainPart.test(part) && !part.startsWith('-') && !part.endsWith('-'))
  )
}

/** Validates a subdomain whose first label is `*`, which matches any single label. */
export function checkWildcardSubdomain(name: string): string[] {
  const isSound = name.length <= 253 && name.startsWith('*.') && isSubdomain(name.slice(2))
  return isSound
    ? []
    : [
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain of at most 251 characters",
      ]
}

/** Validates a key of labels and annotations: an optional subdomain and slash, then a name of at most 63 characters. */
export function checkQualifiedName(name: string): string[] {
  if (name.length <= 63 && plainQualified.test(name)) return []
  const parts = name.split('/')
  if (parts.length > 2)
    return [
      `a qualified name ${qualifiedRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  const prefix = parts.length === 2 ? parts[0]! : undefined
  const local = parts.at(-1)!
  const errors: string[] = []
  if (prefix === '') errors.push('prefix part must be non-empty')
  else if (prefix !== undefined) errors.push(...checkDnsSubdomain(prefix).map((text) => `prefix part ${text}`))
  if (local === '') errors.push('name part must be non-empty')
  else if (local.length > 63) errors.push(`name part ${atMost(63)}`)
  if (!qualifiedPart.test(local.slice(0, 1000))) errors.push(qualifiedRule)
  return errors
}

/** Validates the value of a label. */
export function checkLabelValue(value: string): string[] {
  const errors: string[] = []
  if (value.length > 63) errors.push(atMost(63))
  if (value !== '' && !qualifiedPart.test(value.slice(0, 1000))) errors.push(labelValueRule)
  return errors
}

/** Validates a name as a single segment of a URL path, which is the minimum requirement for every name. */
export function checkPathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  const errors: string[] = []
  if (name.includes('/')) errors.push("may not contain '/'")
  if (name.includes('%')) errors.push("may not contain '%'")
  return errors
}

const maxStoredLength = 512

/** Validates a name for use in a store key. This check runs even if the kind allows arbitrary names. */
export function checkStoredName(name: string): string[] {
  if (Buffer.byteLength(name) > maxStoredLength) return [`must be no more than ${maxStoredLength} bytes`]
  return name.includes('\0') || !name.isWellFormed() ? ['must be well-formed text without NUL'] : []
}

/** Validates a key of a ConfigMap or Secret, which becomes a file name in a volume. */
export function checkConfigKey(key: string): string[] {
  const errors: string[] = []
  if (key.length > 253) errors.push(atMost(253))
  if (!/^[-._a-zA-Z0-9]+$/.test(key.slice(0, 1000))) {
    errors.push(
      "a valid config key must consist of letters, digits, '-', '_' or '.' (e.g. 'key.name', 'KEY_NAME' or 'key-name')",
    )
  }
  if (key === '.') errors.push("must not be '.'")
  else if (key === '..') errors.push("must not be '..'")
  else if (key.startsWith('..')) errors.push("must not start with '..'")
  return errors
}

/** Validates the name of a port: a short label with at least one letter. */
export function checkPortName(name: string): string[] {
  const errors: string[] = []
  if (name.length > 15) errors.push(atMost(15))
  if (!/^[-a-z0-9]+$/.test(name.slice(0, 100))) errors.push("must contain only lower case letters, digits and '-'")
  if (!/[a-z]/.test(name.slice(0, 100))) errors.push('must contain at least one letter')
  if (name.includes('--')) errors.push("must not contain consecutive '-'")
  if (name.startsWith('-') || name.endsWith('-')) errors.push("must not begin or end with '-'")
  return errors
}

/** Validates the name of an environment variable. */
export function checkEnvironmentName(name: string): string[] {
  const errors: string[] = []
  if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name))
    errors.push("must consist of letters, digits, '_', '-' or '.', and must not start with a digit (e.g. 'MY_ENV')")
  if (name === '.' || name === '..') errors.push(`must not be '${name}'`)
  else if (name.startsWith('..')) errors.push("must not start with '..'")
  return errors
}

/** Validates the name of an environment variable with the rules of later Kubernetes versions. */
export function checkRelaxedEnvironmentName(name: string): string[] {
  return /^[ -<>-~]+$/.test(name) ? [] : ["must consist only of printable ASCII characters other than '='"]
}

const ipv4WithZeros = /^[0-9]{1,9}(?:\.[0-9]{1,9}){3}(?:\/[0-9]{1,9})?$/

/**
 * Removes leading zeros from the numbers of an IPv4 address or range. Older clients send `010.0.0.1` for 10.0.0.1, but
 * other programs read `010` as octal. Any other string is returned unchanged.
 */
export function withoutLeadingZeros(text: string): string {
  return ipv4WithZeros.test(text) ? text.replace(/(^|[./])0+(?=[0-9])/g, '$1') : text
}

/**
 * Returns the IP version of an address, 4 or 6, or 0 if the string is not an address. Addresses with a zone are not
 * accepted.
 */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (text.length > 45) return 0
  return isIPv4(withoutLeadingZeros(text)) ? 4 : isIpv6(text) ? 6 : 0
}

const ipv6Characters = /^[0-9a-fA-F:.]+$/

/**
 * Whether the string is an IPv6 address without a zone. Uses the URL parser, because the first call of `net.isIPv6` in
 * a process spends 8 ms compiling a pattern, which would delay every start of the server.
 */
function isIpv6(text: string): boolean {
  return text.includes(':') && ipv6Characters.test(text) && URL.canParse(`http://[${text}]`)
}

/** Validates an IPv4 or IPv6 address without a zone. */
export function checkIpAddress(text: string): string[] {
  return ipVersion(text) === 0 ? ['must be a valid IP address (e.g. 10.9.8.7 or 2001:db8::ffff)'] : []
}

/** Returns a check for the prefix of a generated name. The prefix is validated as if more characters followed. */
export function asPrefix(check: NameCheck): NameCheck {
  return (prefix) => check(prefix.endsWith('-') ? `${prefix.slice(0, -1)}a` : prefix)
}

function atMost(length: number): string {
  return `must be no more than ${length} characters`
}
