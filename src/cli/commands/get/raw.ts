/** `orchctl get --raw`: what the server has at a path, byte by byte. */
import { UsageError } from '../../../base/flags.ts'
import type { Context } from '../../command.ts'
import { withConnection } from '../../connect.ts'
import type { GetOptions } from './getting.ts'

export async function getRaw(context: Context, options: GetOptions, words: readonly string[]): Promise<void> {
  if (words.length > 0) throw new UsageError('arguments may not be passed when --raw is specified')
  if (!options.raw.startsWith('/')) throw new UsageError('--raw takes a path that begins with /, such as /version')
  await withConnection(context, options, async ({ client }) => {
    const { body } = await client.open({ method: 'GET', path: options.raw, accept: '*/*', signal: context.signal })
    const decoder = new TextDecoder()
    for await (const chunk of body) context.out(decoder.decode(chunk, { stream: true }))
    context.out(decoder.decode())
  })
}
