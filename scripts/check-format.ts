/**
 * Runs Biome, which checks the formatting and lints the code, on the files that have changed since Biome last accepted
 * them. `.tools/format.json` records the accepted files. Biome checks each file independently, so the result is the
 * same as if it had checked all files. A change to Biome, its configuration or the dependencies invalidates the record.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The hashes of accepted files, by path. */
export type Accepted = { readonly [file: string]: string }

interface Record {
  readonly settings: string
  readonly accepted: Accepted
}

/** Files that affect how Biome checks other files. */
const settingFiles = ['biome.json', 'package.json', 'node_modules/@biomejs/biome/package.json']
/**
 * Maximum number of files to pass as arguments. If more files have changed, Biome checks all files, because the length
 * of a command line is limited.
 */
const maxNamed = 500

/** Returns Biome's complaints about the files in a Git checkout, or undefined if there are none. */
export function formatErrors(root: string): string | undefined {
  const recordFile = join(root, '.tools/format.json')
  const settings = hashOf(...settingFiles.map((file) => join(root, file)))
  const record = readRecord(recordFile)
  const current = hashesIn(root)
  const accepted = record?.settings === settings ? record.accepted : {}
  const changed = Object.keys(current).filter((file) => current[file] !== accepted[file])
  const errors = changed.length === 0 ? undefined : runBiome(root, changed.length > maxNamed ? ['.'] : changed)
  if (errors !== undefined) return errors
  mkdirSync(dirname(recordFile), { recursive: true })
  writeFileSync(recordFile, JSON.stringify({ settings, accepted: current } satisfies Record))
  return undefined
}

function runBiome(root: string, files: readonly string[]): string | undefined {
  const args = ['check', '--error-on-warnings', '--no-errors-on-unmatched', ...files]
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/biome'), args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  })
  return status === 0 ? undefined : `${stdout}${stderr}`
}

/** Returns the hashes of all files that Git does not ignore, by path. */
function hashesIn(root: string): Accepted {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout, status, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 })
  if (status !== 0) throw new Error(`cannot list the files: ${stderr}`)
  // A listed file may have been deleted.
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(root, file)))
  return Object.fromEntries(files.map((file) => [file, hashOf(join(root, file))]))
}

function hashOf(...files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('base64url')
}

function readRecord(file: string): Record | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // There is no record yet, or another check is currently writing it.
    return undefined
  }
}

if (import.meta.main) {
  const errors = formatErrors(dirname(import.meta.dirname))
  if (errors !== undefined) {
    console.error(errors)
    process.exitCode = 1
  }
}
