/** Flags for TLS. Versions and cipher suites have the same names as in Go. */
import { flag, oneOf, UsageError } from '../../base/flags/flags.ts'
import { list } from './values.ts'

const versions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const

/** TLS 1.2 cipher suites by IANA name. All TLS 1.3 cipher suites are always enabled, as in Go. */
const suites: ReadonlyMap<string, string> = new Map([
  ...['ECDSA', 'RSA'].flatMap((key) =>
    [
      ['AES_128_GCM_SHA256', 'AES128-GCM-SHA256'],
      ['AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
      ['CHACHA20_POLY1305_SHA256', 'CHACHA20-POLY1305'],
      ['CHACHA20_POLY1305', 'CHACHA20-POLY1305'],
      ['AES_128_CBC_SHA', 'AES128-SHA'],
      ['AES_256_CBC_SHA', 'AES256-SHA'],
    ].map(([name, cipher]) => [`TLS_ECDHE_${key}_WITH_${name}`, `ECDHE-${key}-${cipher}`] as const),
  ),
  ['TLS_RSA_WITH_AES_128_GCM_SHA256', 'AES128-GCM-SHA256'],
  ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA', 'AES128-SHA'],
  ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
])
const ofTls13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']

export const tlsFlags = {
  tlsMinVersion: flag({
    name: 'tls-min-version',
    value: 'VERSION',
    default: 'VersionTLS12',
    read: (text) => versions[oneOf(Object.keys(versions) as (keyof typeof versions)[])(text)],
    help: 'minimum TLS version: VersionTLS12 or VersionTLS13',
  }),
  tlsCipherSuites: flag({
    name: 'tls-cipher-suites',
    value: 'NAMES',
    read: readSuites,
    help: 'TLS 1.2 cipher suites by IANA name, separated by commas; defaults to the Node.js cipher suites. All TLS 1.3 suites are always enabled',
  }),
}

/** Parses cipher suites. Returns the cipher list for Node.js, or undefined for the Node.js default. */
function readSuites(text: string): string | undefined {
  const names = list(text)
  if (names.length === 0) return undefined
  const otherSuites = names.filter((name) => !ofTls13.includes(name)).map(readSuite)
  return [...ofTls13, ...otherSuites].join(':')
}

function readSuite(name: string): string {
  const suite = suites.get(name)
  if (suite === undefined)
    throw new UsageError(
      `${JSON.stringify(name)} is not a supported cipher suite; supported cipher suites are ${[...suites.keys()].join(', ')}`,
    )
  return suite
}
