/** Lists as the server sends them, page by page, and as callers get them. */
import type { List, ListOptions, ListPage } from './options.ts'
import { TransportError } from './transport.ts'

/** A list on the wire. */
export interface ListBody<T> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items: readonly (T | null)[] | null
}

/** Items of a list come without apiVersion and kind; here they have them, as they have from everywhere else. */
export function readPage<T>({ apiVersion, kind, metadata, items }: ListBody<T>): ListPage<T> {
  const type = { kind: kind.replace(/List$/, ''), apiVersion }
  return {
    items: (items ?? []).filter((item) => item !== null).map((item) => ({ ...type, ...item })),
    resourceVersion: metadata.resourceVersion ?? '',
    continueToken: metadata.continue ?? '',
  }
}

/** An old server, or a proxy, may not know `Exact` and send the newest state as if it were that of the version. */
export function checkExact({ resourceVersion, resourceVersionMatch }: ListOptions, page: ListPage<unknown>): void {
  if (resourceVersionMatch !== 'Exact' || page.resourceVersion === resourceVersion) return
  throw new TransportError(
    `the list is not of the version ${resourceVersion} that was asked for, but of ${page.resourceVersion}`,
  )
}

/** All pages as one list. `restart` is called where pages expired, and forgets what came before. */
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
