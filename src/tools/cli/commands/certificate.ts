/** `orchctl certificate approve|deny`: approves or denies certificate signing requests. */

import type { ApiObject } from '../../../api/model/object.ts'
import { groupName } from '../../../api/model/vendor.ts'
import { type OptionsOf, toggle, UsageError } from '../../../base/flags/flags.ts'
import { fileFlags, findSubjects, type Subject } from '../arguments/subjects.ts'
import { inBulk } from '../changes/bulk.ts'
import { report, requestOptions, writeFlags } from '../changes/report-write.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { type Session, withSession } from '../connection/session.ts'
import { type Command, defineCommand } from '../program/command.ts'

const { dryRun: _, ...written } = writeFlags

const flags = {
  ...fileFlags,
  force: toggle({
    name: 'force',
    help: 'update a certificate signing request even if it is already approved or denied',
  }),
  ...written,
  ...connectionFlags,
}

interface Verdict {
  readonly condition: 'Approved' | 'Denied'
  /** Past participle of the operation, such as `approved`, for the report line. */
  readonly done: string
  readonly reason: string
}

export const approveCommand = verdictCommand(
  'approve',
  'Approve certificate signing requests, so that their signer can sign them.',
  {
    condition: 'Approved',
    done: 'approved',
    reason: 'OrchctlApprove',
  },
)

export const denyCommand = verdictCommand('deny', 'Deny certificate signing requests, so that no signer signs them.', {
  condition: 'Denied',
  done: 'denied',
  reason: 'OrchctlDeny',
})

function verdictCommand(name: 'approve' | 'deny', about: string, verdict: Verdict): Command {
  return defineCommand({
    name: `certificate ${name}`,
    forms: ['CSR... [flags]', '-f FILE [flags]'],
    about,
    examples: [`orchctl certificate ${name} node-1`],
    flags,
    run: async (context, { options, words }) => {
      if (words.length === 0 && options.filename.length === 0)
        throw new UsageError('one or more CSRs must be specified as <name> or -f <filename>')
      await withSession(context, options, async (session) => {
        await inBulk(context, await requestsOf(session, words, options), {
          sortOf: ({ type }) => type,
          done: verdict.done,
          act: (subject, index) => judge(session, subject, { verdict, options, index }),
        })
      })
    },
  })
}

async function requestsOf(
  session: Session,
  words: readonly string[],
  options: OptionsOf<typeof flags>,
): Promise<Subject[]> {
  const choice = { ...options, selector: '', fieldSelector: '', all: false, allNamespaces: false }
  if (options.filename.length > 0) return await findSubjects(session, words, choice)
  const group = groupName(await session.types.vendor(), 'certificates')
  return await findSubjects(session, [`certificatesigningrequests.v1.${group}`, ...words], choice)
}

interface Request extends ApiObject {
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string; lastUpdateTime?: string }[]
  }
}

interface Judging {
  readonly verdict: Verdict
  readonly options: OptionsOf<typeof flags>
  readonly index: number
}

async function judge(session: Session, { type, name }: Subject, { verdict, options, index }: Judging): Promise<string> {
  const { client, context } = session
  const live = (await client.get(type, name, { signal: context.signal })) as Request
  const conditions = live.status?.conditions ?? []
  const there = conditions.some(({ type }) => type === verdict.condition)
  const writing = { ...options, dryRun: 'none' } as const
  if (there && !options.force) return await report(writing, { type, object: live, done: verdict.done, index })
  const condition = {
    type: verdict.condition,
    status: 'True',
    reason: verdict.reason,
    message: `This CSR was ${verdict.done} by orchctl certificate ${verdict.condition === 'Approved' ? 'approve' : 'deny'}.`,
  }
  const otherConditions = conditions.filter(({ type }) => type !== verdict.condition)
  const next = { ...live, status: { ...live.status, conditions: [...otherConditions, condition] } }
  const object = await client.update(type, next, { ...requestOptions(session, writing), subresource: 'approval' })
  return await report(writing, { type, object, done: verdict.done, index })
}
