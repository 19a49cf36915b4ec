/**
 * `/statusz` and `/flagz` show this program's state and flags, as text or as an API object. Clients request the object
 * with the parameters `g`, `v` and `as` in the Accept header. Each page has its own feature gate.
 */
import { jsonDocument } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { notAcceptable } from '../../../api/model/api-error.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import { type Emulation, isAvailable } from '../../../api/versions/availability.ts'
import { minorOf, releaseOf } from '../../../api/versions/emulated-version.ts'
import type { FeatureGate } from '../../../api/versions/feature-gates.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'
import type { Exchange } from '../request/exchange.ts'
import type { PathInfo } from '../request/request-info.ts'
import { acceptedType, negotiateType } from '../response/negotiate.ts'
import { sendBytes, sendText } from '../response/responses.ts'

/** The program name that the pages show. Kubernetes clients expect this name. */
const component = 'kube-apiserver'

/** API versions of the page objects. `v1alpha1` is deprecated. */
const objectVersions = ['v1alpha1', 'v1beta1'] as const

export interface ComponentPageParts {
  readonly vendor: Vendor
  readonly emulation: Emulation
  readonly clock: Clock
  /** Version of this program. */
  readonly version: string
  /** The paths that `/statusz` lists. */
  readonly paths: () => readonly string[]
  /** The values of the flags by name. */
  readonly flags: () => ReadonlyMap<string, string>
}

interface Page {
  readonly path: string
  readonly kind: string
  readonly gate: FeatureGate
  /** Returns the fields of the page object other than apiVersion, kind and metadata. */
  readonly content: (parts: ComponentPageParts) => JsonObject
  readonly lines: (content: JsonObject) => readonly string[]
}

const pages: readonly Page[] = [
  { path: '/flagz', kind: 'Flagz', gate: 'ComponentFlagz', content: flagContent, lines: flagLines },
  { path: '/statusz', kind: 'Statusz', gate: 'ComponentStatusz', content: statusContent, lines: statusLines },
]

/** Returns the paths of the pages whose feature gates are enabled. */
export function componentPagePaths(emulation: Emulation): string[] {
  return pages.filter(({ gate }) => isAvailable({ gate }, emulation)).map(({ path }) => path)
}

/** Serves `/statusz` and `/flagz`. */
export function componentPages(parts: ComponentPageParts): PathHandler {
  const servedPaths = componentPagePaths(parts.emulation)
  return (exchange, info) => {
    const page = servedPaths.includes(info.path) ? pages.find(({ path }) => path === info.path) : undefined
    if (page === undefined) return false
    if (info.verb !== 'get' && info.verb !== 'head') throw notAllowed()
    return sendPage(exchange, info, { page, parts })
  }
}

function sendPage(
  exchange: Exchange,
  { query }: PathInfo,
  { page, parts }: { readonly page: Page; readonly parts: ComponentPageParts },
): void | Promise<void> {
  const { vendor } = parts
  const { headers } = exchange
  const group = groupName(vendor, 'config')
  const types = objectVersions.map((version) => ({ group, version, kind: page.kind }))
  const agreed = negotiateType({ headers, query, watch: false, vendor, protobuf: undefined }, types)
  if (agreed === undefined) {
    if (acceptedType(headers, ['text/plain']) === undefined) throw notAcceptable(['text/plain'])
    return sendText(exchange, 200, textOf(page, page.content(parts)))
  }
  const { version } = agreed.type
  exchange.form = { ...agreed.form, mediaType: agreed.form.mediaType.split(';', 1)[0]! }
  if (version === 'v1alpha1') exchange.warn(`${group}/v1alpha1 of ${page.path} is deprecated; request ${group}/v1beta1`)
  const object = {
    kind: page.kind,
    apiVersion: `${group}/${version}`,
    metadata: { name: component },
    ...page.content(parts),
  }
  return sendBytes(exchange, 200, jsonDocument(object))
}

function textOf({ path, lines }: Page, content: JsonObject): string {
  const warning = 'Warning: this page is for people. Its format may change; programs can request an object instead.'
  return [`${component} ${path.slice(1)}`, warning, '', ...lines(content), ''].join('\n')
}

function flagContent({ flags }: ComponentPageParts): JsonObject {
  return { flags: Object.fromEntries([...flags()].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

function flagLines({ flags }: JsonObject): string[] {
  return Object.entries(flags as { readonly [name: string]: string }).map(([name, value]) => `${name}=${value}`)
}

/** Top-level path segments to omit from the list of diagnostic pages, because they belong to APIs or documents. */
const otherFolders: ReadonlySet<string> = new Set(['api', 'apis', 'openapi', 'openid', '.well-known'])

function statusContent({ clock, version, emulation, paths }: ComponentPageParts): JsonObject {
  const { major, minor, patch } = releaseOf(emulation.version)
  const upSeconds = Math.floor(process.uptime())
  const folders = paths()
    .map((path) => path.split('/')[1]!)
    .filter((folder) => folder !== '' && !otherFolders.has(folder))
  return {
    startTime: new Date(clock.now() - upSeconds * 1000).toISOString().replace(/\.\d+/, ''),
    uptimeSeconds: upSeconds,
    goVersion: 'none',
    binaryVersion: `${major}.${minor}.${patch}+orch.${version}`,
    emulationVersion: emulation.version,
    minimumCompatibilityVersion: `1.${minorOf(emulation.version) - 1}`,
    paths: [...new Set(folders)].sort().map((folder) => `/${folder}`),
  }
}

const minute = 60
const hour = 60 * minute

function statusLines(content: JsonObject): string[] {
  const up = content.uptimeSeconds as number
  const twoDigits = (count: number) => String(count).padStart(2, '0')
  return [
    `Started: ${content.startTime}`,
    `Up: ${Math.floor(up / hour)} hr ${twoDigits(Math.floor(up / minute) % 60)} min ${twoDigits(up % minute)} sec`,
    `Go version: ${content.goVersion}`,
    `Binary version: ${content.binaryVersion}`,
    `Emulation version: ${content.emulationVersion}`,
    `Minimum compatibility version: ${content.minimumCompatibilityVersion}`,
    `Paths: ${(content.paths as readonly string[]).join(' ')}`,
  ]
}
