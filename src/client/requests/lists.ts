/** Reads lists: converts list responses to pages, checks their version, and joins pages into one list. */
import type { List, ListOptions, ListPage } from './options.ts'
import { TransportError } from './transport.ts'

/** The response to a list request. */
export interface ListBody<T> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items: readonly (T | null)[] | null
}

/** Converts a list response to a page. The server omits the apiVersion and kind of the items, so they are added. */
export function readPage<T>({ apiVersion, kind, metadata, items }: ListBody<T>): ListPage<T> {
  const type = { kind: kind.replace(/List$/, ''), apiVersion }
  return {
    items: (items ?? []).filter((item) => item !== null).map((item) => ({ ...type, ...item })),
    resourceVersion: metadata.resourceVersion ?? '',
    continueToken: metadata.continue ?? '',
  }
}

/**
 * Throws an error if the server did not return the exact version that was requested. An old server or a proxy may
 * ignore `Exact`.
 */
export function checkExact({ resourceVersion, resourceVersionMatch }: ListOptions, page: ListPage<unknown>): void {
  if (resourceVersionMatch !== 'Exact' || page.resourceVersion === resourceVersion) return
  throw new TransportError(
    `the server returned a list at version ${page.resourceVersion} instead of the requested version ${resourceVersion}`,
  )
}

/** Collects all pages into one list. If pages expire, `onRestart` discards the pages collected so far. */
export async function gather<T>(pagesOf: (onRestart: () => void) => AsyncIterable<ListPage<T>>): Promise<List<T>> {
  let items: T[] = []
  let resourceVersion = ''
  const restart = () => {
    items = []
  }
  for await (const page of pagesOf(restart)) {
    for (const item of page.items) items.push(item)
    resourceVersion = page.resourceVersion
  }
  return { items, resourceVersion }
}
