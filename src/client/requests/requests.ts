/** Builds the query and the body for each verb. */
import type { DeleteOptions, ListOptions, Patch, Query, WriteOptions } from './options.ts'

const defaultLimit = 500

type PageOption = 'limit' | 'labelSelector' | 'fieldSelector' | 'fields' | 'sort'
type PageSelection = { [K in PageOption]?: ListOptions[K] | undefined }

/** Returns the query for one page of a collection. */
export function pageQuery(selection: PageSelection, continueToken: string): Query {
  const { limit = defaultLimit, labelSelector, fieldSelector, fields, sort } = selection
  return { labelSelector, fieldSelector, fields, sort, limit: limit || undefined, continue: continueToken || undefined }
}

export function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions): Query {
  return { dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation }
}

export function deleteBody({ signal: _, dryRun, ...options }: DeleteOptions): object {
  return { kind: 'DeleteOptions', apiVersion: 'v1', ...options, ...(dryRun ? { dryRun: ['All'] } : {}) }
}

export function patchBody(patch: Patch): { contentType: string; body: object; force?: boolean } {
  if ('merge' in patch) return { contentType: 'application/merge-patch+json', body: patch.merge }
  if ('strategic' in patch) return { contentType: 'application/strategic-merge-patch+json', body: patch.strategic }
  if ('json' in patch) return { contentType: 'application/json-patch+json', body: patch.json }
  // The body is sent as JSON, which is valid YAML.
  const { apply, force } = patch
  return { contentType: 'application/apply-patch+yaml', body: apply, ...(force === undefined ? {} : { force }) }
}

export function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}
