/**
 * Implements `--raw`, which sends a request to a path on the server and prints the response unchanged. The request
 * body, if any, is read from a file.
 */

import { parseJson } from '../../../api/json/portable-json.ts'
import { closestMatch, flag, maxTypos, type OptionsOf, text, UsageError } from '../../../base/flags/flags.ts'
import type { Client } from '../../../client/requests/client.ts'
import { isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import type { FileOptions } from '../manifests/manifest.ts'
import { escapeText } from '../printers/escape.ts'
import type { Context } from '../program/command.ts'
import { withConnection } from './connect.ts'
import type { connectionFlags } from './connection-flags.ts'

export const rawFlag = flag({
  name: 'raw',
  value: 'PATH',
  read: text,
  help: 'send the file to this path on the server, and print the response',
})

export interface RawCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly words: readonly string[]
  /** File that contains the request body. Undefined for methods without a body. */
  readonly files?: FileOptions
}

export async function callRaw(
  context: Context,
  options: OptionsOf<typeof connectionFlags> & { readonly raw: string } & RawConflicts,
  { method, words, files }: RawCall,
): Promise<void> {
  rejectConflictingFlags(options)
  if (words.length > 0) throw new UsageError('arguments may not be passed when --raw is specified')
  if (!options.raw.startsWith('/')) throw new UsageError('--raw requires a path that begins with /, such as /version')
  const body = files === undefined ? {} : await requestBodyFrom(context, files)
  await withConnection(context, options, async ({ client }) => {
    const request = { method, path: options.raw, accept: '*/*', signal: context.signal }
    const answer = await client.open({ ...request, ...body }).catch(async (error: unknown) => {
      throw await withPathsThere(client, error, request)
    })
    if (!context.terminal.out) for await (const chunk of answer.body) context.out(chunk)
    else await show(context, answer.body)
  })
}

/**
 * Adds a suggestion to the error for an unknown path. The suggestion comes from the server, which lists its paths at
 * the root and the types of each group.
 */
async function withPathsThere(
  client: Client,
  error: unknown,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<unknown> {
  if (!(error instanceof StatusError) || !isNotFound(error) || error.status.details?.name !== undefined) return error
  const paths = await client.read<{ readonly paths?: readonly string[] }>('/', { signal }).then(
    (root) => root.paths ?? [],
    // If the user may not list the paths, return the original error without a suggestion.
    (refusal: unknown) => (refusal instanceof StatusError ? [] : Promise.reject(refusal)),
  )
  const near = closestMatch(path, paths, maxTypos(path))
  const above = ['/', ...paths.filter((servedPath) => path.startsWith(`${servedPath}/`))].sort(
    (a, b) => b.length - a.length,
  )[0]
  const hint = near === undefined ? `\`orchctl get --raw ${above}\` lists the available paths` : `did you mean ${near}?`
  return new StatusError({ ...error.status, message: `${error.message}: ${path}; ${hint}` }, error.request)
}

/** Prints the response on a terminal. Escapes control sequences. */
async function show({ out }: Context, body: AsyncIterable<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of body) out(escapeText(decoder.decode(chunk, { stream: true })))
  out(escapeText(decoder.decode()))
}

/** The flags that `--raw` rejects. */
interface RawConflicts {
  readonly edit?: boolean
  readonly selector?: string
  readonly recursive?: boolean
  readonly output?: string | { readonly form: string }
}

function rejectConflictingFlags({ edit, selector, recursive, output }: RawConflicts): void {
  const conflictingFlags = [
    edit && '--edit',
    selector && '--selector (-l)',
    recursive && '--recursive',
    (typeof output === 'object' ? output.form : output) && '--output',
  ]
  const other = conflictingFlags.find((flag) => flag)
  if (other) throw new UsageError(`--raw and ${other} are mutually exclusive`)
}

async function requestBodyFrom(context: Context, files: FileOptions): Promise<{ body?: unknown }> {
  const { readSources } = await import('../manifests/sources.ts')
  const sources = await readSources(context, files)
  if (sources.length === 0) return {}
  if (sources.length > 1) throw new UsageError('--raw can only use a single local file or stdin')
  const [{ name, text }] = sources as [(typeof sources)[number]]
  try {
    return { body: parseJson(text) }
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new UsageError(`${name}: the file must be JSON with --raw: ${error.message}`)
    throw error
  }
}
