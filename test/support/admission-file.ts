/** Writes a file for `--admission-control-config-file` and returns the flag. The file is removed when the test ends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ending } from './server.ts'

/** Configurations by the name of the admission plugin. */
export function admissionFile(t: Ending, configurations: { readonly [control: string]: object }): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(async () => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'admission.yaml')
  const plugins = Object.entries(configurations).map(([name, configuration]) => ({ name, configuration }))
  const content = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration', plugins }
  writeFileSync(file, JSON.stringify(content))
  return `--admission-control-config-file=${file}`
}
