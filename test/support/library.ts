/** Installs the package as users do: with current bundles, in a project that depends on it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleIfStale } from './bundle.ts'
import { type Ending, root } from './server.ts'

/** Creates an empty project in which `orch/client` is installed with a current bundle. */
export async function projectWithOrch(t: Ending, libraries: readonly string[]): Promise<string> {
  for (const name of libraries) await bundleIfStale(name)
  const directory = mkdtempSync(join(tmpdir(), 'orch-project-'))
  t.after(async () => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(root, join(directory, 'node_modules/orch'))
  return directory
}

/** Returns the code block in a page of docs/ that follows a marker such as `<!-- controller -->`. */
export function codeInDocs(page: string, mark: string): string {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const [, code] = text.split(`<!-- ${mark} -->\n\`\`\`ts\n`)
  if (code === undefined) throw new Error(`docs/${page} has no code after <!-- ${mark} -->`)
  return code.slice(0, code.indexOf('\n```\n') + 1)
}
