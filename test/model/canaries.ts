import { DIGITS, LOWER, made, UPPER, WORD } from '../support/made-up.ts'

const HEX = '0123456789abcdef'

/** Raw secrets, each with the stretch that must be nowhere. Other seeds, other secrets. */
export function canaries(
  seed: number,
): readonly { readonly text: string; readonly secret: string }[] {
  const run = (length: number, alphabet: string) => made(length, alphabet, seed * 31 + length)
  const plain = [
    `sk-${run(48, WORD)}`,
    `sk-proj-${run(150, WORD)}`,
    `sk-ant-api03-${run(93, WORD)}AA`,
    `sk-or-v1-${run(64, HEX)}`,
    `gsk_${run(52, WORD)}`,
    `xai-${run(80, WORD)}`,
    `hf_${run(34, UPPER + LOWER)}`,
    `ghp_${run(36, WORD)}`,
    `github_pat_${run(22, WORD)}_${run(59, WORD)}`,
    `glpat-${run(20, WORD)}`,
    `npm_${run(36, WORD)}`,
    `xoxb-${run(12, DIGITS)}-${run(13, DIGITS)}-${run(24, WORD)}`,
    `AKIA${run(16, `${UPPER}234567`)}`,
    `AIza${run(35, WORD)}`,
    `ya29.${run(120, WORD)}`,
    `dop_v1_${run(64, HEX)}`,
    `dapi${run(32, HEX)}`,
    `hvs.${run(90, WORD)}`,
    `sk_live_${run(24, WORD)}`,
    `whsec_${run(32, WORD)}`,
    `SG.${run(22, WORD)}.${run(43, WORD)}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJ${run(40, WORD)}.${run(43, WORD)}`,
  ].map((secret) => ({ text: secret, secret }))
  const password = run(22, WORD)
  const bearer = run(44, WORD)
  const body = run(64, WORD)
  return [
    ...plain,
    { text: `postgres://agent:${password}@db.example.com:5432/app`, secret: password },
    { text: `Authorization: Bearer ${bearer}`, secret: bearer },
    { text: `DB_PASSWORD=${run(26, WORD)}`, secret: run(26, WORD) },
    {
      text: `-----BEGIN PRIVATE KEY-----\n${body}\n${run(63, WORD)}\n-----END PRIVATE KEY-----`,
      secret: body,
    },
  ]
}
