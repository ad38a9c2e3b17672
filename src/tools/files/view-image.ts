/**
 * ViewImage: an image file for the model to look at. The bytes become a blob, and the result names
 * it; whether the model sees it is decided with each request (context/images.ts).
 */
import { z } from 'zod'
import { imageHead, imageKind, imageProblem, type Image } from '../../domain/image.ts'
import { limits } from '../../domain/limits.ts'
import type { ToolResult } from '../../domain/state/call.ts'
import { asResult, inWorkdir } from './file-access.ts'
import {
  failed,
  nothingNew,
  pureTool,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'ViewImage'

const input = () => z.strictObject({ path: z.string().min(1) })
type Input = z.infer<ReturnType<typeof input>>

export const viewImage = pureTool<Input>({
  name: NAME,
  input,
  title: ({ path }) => path,
  run: view,
})

async function view(given: Input, ctx: ToolContext): Promise<EffectOutcome> {
  const found = await asResult(NAME, ctx, () => look(inWorkdir(ctx, given.path), ctx))
  return { result: found.ok ? found.value : withOwnHint(found.result), ...nothingNew }
}

async function look(path: string, ctx: ToolContext): Promise<ToolResult> {
  const opened = await ctx.open(path, 'read')
  try {
    const { bytes } = await opened.read(limits.image_bytes.value)
    return shown(opened.path, bytes, ctx)
  } finally {
    await opened.close()
  }
}

function shown(path: string, bytes: Uint8Array, ctx: ToolContext): ToolResult {
  // Any text can be a name: in quotes it ends where it ends.
  const name = JSON.stringify(path)
  const head = imageHead(bytes)
  if (head === null) {
    const message = `${name} is no PNG, JPEG, GIF or WebP by its first bytes.`
    const hint = 'ReadFile reads texts; a command may convert another kind of image to PNG.'
    return failed(NAME, 'rejected', 'not_an_image', message, hint)
  }
  const problem = imageProblem(head)
  if (problem !== null) {
    return failed(NAME, 'rejected', 'image_size', `${name} ${problem}.`, smaller)
  }
  if (ctx.holdsSecret(bytes)) {
    const message = `${name} holds a value that is never kept or sent.`
    const hint = 'Make a copy without its comments and other data, and look at that.'
    return failed(NAME, 'rejected', 'image_secret', message, hint)
  }
  const image: Image = { ...head, sha256: ctx.keepBlob(bytes), bytes: bytes.length }
  const size = `${head.width}x${head.height}`
  const says = `image ${name}, ${imageKind(head)}, ${size}, sha256 ${image.sha256.slice(0, 8)}…`
  return succeeded(NAME, says, { path, image })
}

const smaller = 'Make a smaller copy with a command (magick, sips, ffmpeg) and look at that.'

/** What the other file tools advise for a file that is too long is for texts. */
function withOwnHint(result: ToolResult): ToolResult {
  if (result.status !== 'error' || result.error.code !== 'too_large') return result
  return { ...result, error: { ...result.error, hint: smaller } }
}
