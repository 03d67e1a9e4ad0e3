#!/bin/sh
# Publishes pending drafts from a machine with cron, without any Actions. In the crontab, with the folder of a clone:
#
#   */10 * * * * PATH=/usr/local/bin:/usr/bin:/bin BLOG=$HOME/blog $HOME/bin/cron-sweep.sh 2>> $HOME/cron-sweep.log
#
# Two sweeps at once are harmless: the claim of each draft decides. The clone is not touched, and need not be up to date;
# drafts are looked for at the tip of main in its origin, and each is published in a fresh checkout of that tip. The clone's
# identity and credentials are used. With --event a draft may be as young as it likes: leave that out where a workflow works on
# the same drafts, so that this is the insurance only. What is on standard output, the table of drafts, is mailed by cron.
set -eu

cd "${BLOG:?the folder of a clone}"

exec fencepost sweep \
  --drafts 'content/posts/**/*.md' \
  --convention hugo \
  --timezone UTC \
  --branch main \
  --max-start 3 \
  --event \
  -- sh -euc '
    sed "1,/^---/ s/^draft: *true/draft: false/" "$FENCEPOST_DRAFT" > "$FENCEPOST_DRAFT.new"
    mv "$FENCEPOST_DRAFT.new" "$FENCEPOST_DRAFT"
    git commit --quiet --all --message "Publish $FENCEPOST_DRAFT"
  '
