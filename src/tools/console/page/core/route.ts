/**
 * The route after the `#` of the URL. It remains in the browser, so it is neither sent nor logged.
 *
 *   #/                                          the overview
 *   #/operations/quotas                         a work page
 *   #/list/apps/v1/deployments?namespace=a      a table; the query contains the filters and sort order
 *   #/object/core/v1/configmaps/a/b?tab=yaml    an object; `-` stands for no namespace
 */
import { Store } from './observable.ts'

export interface Route {
  readonly path: readonly string[]
  readonly query: ReadonlyMap<string, string>
}

/** Group, version and plural name of a type, as in the URL. */
export interface TypePlace {
  readonly group: string
  readonly version: string
  readonly plural: string
}

/** The current route, as shown in the address bar. */
export const route = new Store<Route>(readRoute(location.hash))

addEventListener('hashchange', () => route.set(readRoute(location.hash)))

function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const segments = path.split('/').filter((segment) => segment !== '')
  return { path: segments.map(decoded), query: new Map(new URLSearchParams(query)) }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Returns the URL hash for a route. */
function address(path: readonly string[], query: Iterable<readonly [string, string]> = []): string {
  const parameters = new URLSearchParams([...query].filter(([, value]) => value !== '').map(([k, v]) => [k, v]))
  const text = parameters.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

export function listAddress(
  { group, version, plural }: TypePlace,
  query?: Iterable<readonly [string, string]>,
): string {
  return address(['list', group || 'core', version, plural], query)
}

interface Named {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

export function objectAddress({ group, version, plural }: TypePlace, { namespace, name = '' }: Named): string {
  return address(['object', group || 'core', version, plural, namespace || '-', name])
}

export function go(to: string): void {
  location.hash = to
}

/**
 * Changes the query in the URL without adding history entries, because each letter typed into a filter changes the
 * query.
 */
export function setQuery(changes: { readonly [name: string]: string }): void {
  const { path, query } = route.value
  replaceAddress(address(path, new Map([...query, ...Object.entries(changes)])))
}

/**
 * Replaces the URL without adding a history entry. Also sets the route, because the browser sends no `hashchange`
 * event.
 */
export function replaceAddress(next: string): void {
  history.replaceState(null, '', next)
  route.set(readRoute(next))
}
