/** A file of `--admission-control-config-file` for a test: the flag that names it. It is gone when the test ends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ending } from './server.ts'

/** What each control is configured with, by its name. */
export function admissionFile(t: Ending, configurations: { readonly [control: string]: object }): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(async () => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'admission.yaml')
  const plugins = Object.entries(configurations).map(([name, configuration]) => ({ name, configuration }))
  const content = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'AdmissionConfiguration', plugins }
  writeFileSync(file, JSON.stringify(content))
  return `--admission-control-config-file=${file}`
}
