/**
 * A text in the user's editor, until what was saved is accepted. One that another edit can mend comes up again with the
 * reason on top. Nothing that was typed is lost: whatever else goes wrong, the message names the file that holds it.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toggle, UsageError } from '../../../base/flags/flags.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { ManifestError } from '../manifests/manifest-error.ts'
import type { DocumentFormat } from '../printers/objects.ts'
import type { Output } from '../printers/output.ts'
import type { Context } from '../program/command.ts'
import { explainError, SeveralErrors } from '../program/explain-error.ts'

/** For editors of Windows. What is saved may have either ending, with or without it. */
export const windowsLineEndingsFlag = toggle({
  name: 'windows-line-endings',
  help: 'lines of the edited file end as on Windows',
})

export interface Editing {
  /** What is being edited, for the line at the top: `object`. */
  readonly what: string
  readonly original: string
  /** Takes what was saved; returns what to print. Throws where it is not accepted. */
  readonly save: (text: string, file: string) => Promise<string>
  /** Whether its lines end in CR LF. */
  readonly windowsLineEndings: boolean
  /** JSON has no comments: nothing stands above it, and why it comes up again is printed. */
  readonly format: DocumentFormat
}

/** The form of a text to edit, by what `-o` says of the output. */
export function editedFormat({ form }: Output): DocumentFormat {
  return form === 'json' ? 'json' : 'yaml'
}

export async function editText(context: Context, editing: Editing): Promise<void> {
  const { what, original, save, windowsLineEndings, format } = editing
  const directory = mkdtempSync(join(tmpdir(), 'orchctl-edit-'))
  const file = join(directory, `object.${format}`)
  let text = original
  let reason = ''
  for (;;) {
    const shown = (format === 'json' ? '' : header(what, reason)) + text
    writeFileSync(file, windowsLineEndings ? shown.replaceAll('\n', '\r\n') : shown, { mode: 0o600 })
    await runEditor(context, file)
    const saved = withoutHeader(readFileSync(file, 'utf8').replaceAll('\r\n', '\n'))
    if (saved.trim() === '' || saved === text) {
      if (format === 'yaml') context.err(reason)
      if (reason !== '')
        throw new UsageError(`edit cancelled, no valid changes were saved; what you wrote is in ${file}`)
      rmSync(directory, { recursive: true, force: true })
      return context.err('Edit cancelled, no changes made.\n')
    }
    text = saved
    try {
      context.out(await save(text, file))
      return rmSync(directory, { recursive: true, force: true })
    } catch (error) {
      context.signal.throwIfAborted()
      if (!isMendable(error)) throw new SeveralErrors([error, new UsageError(`what you wrote is in ${file}`)])
      reason = await explainError(error)
      if (format === 'json') context.err(reason)
    }
  }
}

/** Whether another edit can mend it: the text is wrong, or what it says is. A conflict, or a missing right, stays. */
function isMendable(error: unknown): boolean {
  if (error instanceof SeveralErrors) return error.errors.every(isMendable)
  if (error instanceof ManifestError) return isMendable(error.cause)
  if (error instanceof StatusError) return error.code === 400 || error.code === 422
  return error instanceof UsageError
}

async function runEditor({ env, runProgram }: Context, file: string): Promise<void> {
  const editor = env.KUBE_EDITOR || env.EDITOR || 'vi'
  // Through the shell, since it may have arguments: EDITOR='code --wait'.
  const code = await runProgram('sh', ['-c', `${editor} "$1"`, 'sh', file])
  if (code !== 0)
    throw new UsageError(`the editor ${JSON.stringify(editor)} ended with exit code ${code}: nothing was changed`)
}

function header(what: string, reason: string): string {
  const lines = reason
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `# ${line}\n`)
  return `# Edit the ${what} below. Lines that begin with '#' here at the top are ignored, and an empty file
# changes nothing. If what you save is not accepted, this file comes up again with the reason.
#
${lines.join('')}`
}

function withoutHeader(text: string): string {
  return text.replace(/^(?:#.*\n)+/, '')
}
