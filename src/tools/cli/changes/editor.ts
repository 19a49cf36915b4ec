/**
 * Edits a text in the user's editor until the saved text is accepted. If the user can fix an error by editing, the
 * editor reopens with the error at the top. For other errors, the message names the file that contains the text, so no
 * input is lost.
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

/** The flag for Windows line endings in the edited file. The saved text may have line endings of either type. */
export const windowsLineEndingsFlag = toggle({
  name: 'windows-line-endings',
  help: 'use Windows line endings in the edited file',
})

export interface Editing {
  /** Noun for the edited content, such as `object`, in the header comment of the file. */
  readonly what: string
  readonly original: string
  /**
   * Accepts the edited text and returns the text to print. If it throws an error that the user can fix, the editor
   * opens again.
   */
  readonly save: (text: string, file: string) => Promise<string>
  /** Whether to end lines with CR LF. */
  readonly windowsLineEndings: boolean
  /** The format of the text. JSON has no comments, so a JSON file has no header, and errors are printed instead. */
  readonly format: DocumentFormat
}

/** Returns the format of the edited text, according to the `-o` flag. */
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
    const editorContent = (format === 'json' ? '' : header(what, reason)) + text
    writeFileSync(file, windowsLineEndings ? editorContent.replaceAll('\n', '\r\n') : editorContent, { mode: 0o600 })
    await runEditor(context, file)
    const saved = withoutHeader(readFileSync(file, 'utf8').replaceAll('\r\n', '\n'))
    if (saved.trim() === '' || saved === text) {
      if (format === 'yaml') context.err(reason)
      if (reason !== '') throw new UsageError(`edit cancelled, no valid changes were saved; your edits are in ${file}`)
      rmSync(directory, { recursive: true, force: true })
      return context.err('Edit cancelled, no changes made.\n')
    }
    text = saved
    try {
      context.out(await save(text, file))
      return rmSync(directory, { recursive: true, force: true })
    } catch (error) {
      context.signal.throwIfAborted()
      if (!isMendable(error)) throw new SeveralErrors([error, new UsageError(`your edits are in ${file}`)])
      reason = await explainError(error)
      if (format === 'json') context.err(reason)
    }
  }
}

/**
 * Whether the user can fix the error by editing again, because the text or its content is invalid. Editing cannot fix
 * conflicts or missing permissions.
 */
function isMendable(error: unknown): boolean {
  if (error instanceof SeveralErrors) return error.errors.every(isMendable)
  if (error instanceof ManifestError) return isMendable(error.cause)
  if (error instanceof StatusError) return error.code === 400 || error.code === 422
  return error instanceof UsageError
}

async function runEditor({ env, runProgram }: Context, file: string): Promise<void> {
  const editor = env.KUBE_EDITOR || env.EDITOR || 'vi'
  // The editor runs through the shell, because the variable may contain arguments: EDITOR='code --wait'.
  const code = await runProgram('sh', ['-c', `${editor} "$1"`, 'sh', file])
  if (code !== 0)
    throw new UsageError(`the editor ${JSON.stringify(editor)} exited with code ${code}: nothing was changed`)
}

function header(what: string, reason: string): string {
  const lines = reason
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `# ${line}\n`)
  return `# Edit the ${what} below. Lines that begin with '#' here at the top are ignored, and an empty file
# changes nothing. If your changes are rejected, this file opens again with the reason.
#
${lines.join('')}`
}

function withoutHeader(text: string): string {
  return text.replace(/^(?:#.*\n)+/, '')
}
