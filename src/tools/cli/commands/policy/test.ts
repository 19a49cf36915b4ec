/** Implements `orchctl policy test -f`, which evaluates admission policies in files without a server. */
import { UsageError } from '../../../../base/flags/flags.ts'
import { fileFlags } from '../../arguments/subjects.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { readManifests } from '../../manifests/manifest.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand, ExitCode, refuseWords } from '../../program/command.ts'

export const policyTestCommand = defineCommand({
  name: 'policy test',
  forms: ['-f FILE [flags]'],
  about: `Evaluate ValidatingAdmissionPolicies and MutatingAdmissionPolicies without a server.

The files contain the policies with their bindings and parameters, and PolicyTest documents with requests and expected
results. Without a PolicyTest, the command evaluates the creation of every other object. The exit code is 1 if a result
differs from the expected result or, without a PolicyTest, if an object is denied.`,
  examples: [
    'orchctl policy test -f policy.yaml -f objects/',
    'orchctl policy test -f policy.yaml -f policy-test.yaml',
  ],
  flags: { ...fileFlags, ...connectionFlags },
  run: async (context, { options, words }) => {
    refuseWords(words)
    if (options.filename.length === 0)
      throw new UsageError('no files specified: use -f to specify the files with policies and objects')
    const manifests = await readManifests(context, options)
    const { runPolicyTests } = await import('./run.ts')
    const report = await runPolicyTests(context, manifests, options.namespace || 'default')
    for (const line of report.lines) context.out(`${escapeLine(line)}\n`)
    if (!report.passed) throw new ExitCode(1)
  },
})
