/** Validates the address of a webhook, which is a URL or a Service with a path. */
import { child, type FieldError, type FieldPath, invalid, maxFaults, required } from './field-error.ts'
import { checkDnsSubdomain } from './names.ts'

const form = '; desired format: https://host[/path]'

interface Url {
  readonly scheme: string
  readonly user: string | undefined
  readonly host: string
  readonly query: string
  readonly fragment: string
}

/** Validates the URL of a webhook. */
export function checkWebhookUrl(text: string, path: FieldPath): FieldError[] {
  const url = splitUrl(text)
  if (url === undefined) return [required(path, `url must be a valid URL${form}`)]
  const { scheme, user, host, query, fragment } = url
  return [
    ...(scheme === 'https' ? [] : [invalid(path, scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === '' ? [invalid(path, host, `host must be provided${form}`)] : []),
    // User information in a URL may contain a password, so the error message does not quote it.
    ...(user === undefined ? [] : [invalid(path, '<user>', 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalid(path, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalid(path, query, 'query parameters are not permitted in the URL')]),
  ]
}

const schemeForm = /^([A-Za-z][A-Za-z0-9+.-]*):/
const hostForm = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=-]*)(?::\d*)?$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: URLs must not contain control characters
const neverInUrl = /[\0-\x1f\x7f]|%(?![0-9A-Fa-f]{2})/

/** Splits a URL for validation. Returns undefined if the string cannot be a URL. */
function splitUrl(text: string): Url | undefined {
  if (neverInUrl.test(text) || text.startsWith(':')) return undefined
  const [beforeFragment = '', fragment] = splitAt(text, '#')
  const [beforeQuery = '', query] = splitAt(beforeFragment, '?')
  const scheme = schemeForm.exec(beforeQuery)?.[1] ?? ''
  const rest = scheme === '' ? beforeQuery : beforeQuery.slice(scheme.length + 1)
  const authority = rest.startsWith('//') ? (rest.slice(2).split('/', 1)[0] ?? '') : ''
  const mark = authority.lastIndexOf('@')
  const host = authority.slice(mark + 1)
  if (!hostForm.test(host)) return undefined
  const user = mark < 0 ? undefined : authority.slice(0, mark)
  return { scheme: scheme.toLowerCase(), user, host, query: query ?? '', fragment: fragment ?? '' }
}

function splitAt(text: string, mark: string): readonly (string | undefined)[] {
  const index = text.indexOf(mark)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)]
}

export interface WebhookService {
  readonly name?: string
  readonly namespace?: string
  readonly path?: string
  readonly port?: number
}

/** Validates the Service of a webhook. */
export function checkWebhookService(service: WebhookService, path: FieldPath): FieldError[] {
  const { name, namespace, path: urlPath = '', port = 443 } = service
  const isPort = port >= 1 && port <= 65535
  return [
    ...(name ? [] : [required(child(path, 'name'), 'service name is required')]),
    ...(namespace ? [] : [required(child(path, 'namespace'), 'service namespace is required')]),
    ...(isPort
      ? []
      : [invalid(child(path, 'port'), port, 'port is not valid: must be between 1 and 65535, inclusive')]),
    ...(urlPath === '' || urlPath === '/' ? [] : checkUrlPath(urlPath, child(path, 'path'))),
  ]
}

/** Validates a path such as `/a/b`: each segment must be a DNS subdomain. A trailing slash is allowed. */
function checkUrlPath(urlPath: string, path: FieldPath): FieldError[] {
  const steps = urlPath.slice(1).replace(/\/$/, '').split('/', maxFaults)
  const start = urlPath.startsWith('/') ? [] : [invalid(path, urlPath, "must start with a '/'")]
  return [...start, ...steps.flatMap((step, i) => checkStep(step, i).map((fault) => invalid(path, urlPath, fault)))]
}

function checkStep(step: string, i: number): string[] {
  if (step === '') return [`segment[${i}] may not be empty`]
  return checkDnsSubdomain(step).map((fault) => `segment[${i}]: ${fault}`)
}
