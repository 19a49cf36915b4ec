/** Reads the texts that `-f` names: files, directories, URLs, and `-` for standard input. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '../../../base/flags/flags.ts'
import { codeOf, isError } from '../../../base/text/errors.ts'
import type { Context } from '../program/command.ts'
import type { FileName, Source } from './source.ts'

const endings = ['.json', '.yaml', '.yml']
const maxBytes = 256 * 1024 * 1024

export async function readSources(
  context: Context,
  { filename, recursive }: { readonly filename: readonly FileName[]; readonly recursive: boolean },
): Promise<Source[]> {
  const sources: Source[] = []
  for (const name of filename.flatMap((names) => (typeof names === 'string' ? names.split(',') : []))) {
    if (name === '-') sources.push({ name: 'STDIN', text: decode('STDIN', await context.input()) })
    else if (/^https?:\/\//.test(name)) sources.push(await download(name, context.signal))
    else sources.push(...filesOf(context.directory, name, { recursive }))
  }
  return sources
}

function filesOf(directory: string, name: string, { recursive }: { recursive: boolean }): Source[] {
  const path = resolve(directory, name)
  const fileStat = statSync(path, { throwIfNoEntry: false })
  if (fileStat === undefined) throw new UsageError(`the path ${JSON.stringify(name)} does not exist`)
  if (!fileStat.isDirectory()) return [readSource(path, name)]
  const entries = readdirSync(path, { withFileTypes: true, recursive })
    .filter((entry) => !entry.isDirectory() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(name, entry.parentPath.slice(path.length), entry.name))
    .sort()
  if (entries.length === 0)
    throw new UsageError(
      `error reading [${name}]: recognized file extensions are [${endings.join(' ')}]${recursive ? '' : '; -R also reads subdirectories'}`,
    )
  return entries.map((entry) => readSource(resolve(directory, entry), entry))
}

function readSource(path: string, name: string): Source {
  try {
    return { name, text: decode(name, readFileSync(path)) }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`cannot read ${name}: ${codeOf(error)}`)
  }
}

function decode(name: string, bytes: Uint8Array): string {
  try {
    // Decode with TextDecoder, which also removes the byte order mark that some editors write.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError(`${name} is not UTF-8 text`)
  }
}

const patienceMs = 60_000

async function download(address: string, signal: AbortSignal): Promise<Source> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  try {
    const response = await fetch(address, { signal: bounded })
    if (!response.ok)
      throw new UsageError(
        `unable to read URL ${JSON.stringify(address)}, server reported ${response.status} ${response.statusText}`,
      )
    return { name: address, text: decode(address, await downloadedBody(response, address)) }
  } catch (error) {
    if (error instanceof UsageError || signal.aborted) throw error
    const { cause, message } = error as Error
    throw new UsageError(`cannot read ${address}: ${isError(cause) ? cause.message : message}`)
  }
}

async function downloadedBody(response: Response, address: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new UsageError(`${address} is longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
