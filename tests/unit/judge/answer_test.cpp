#include "judge/answer.hpp"

#include <string>

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir;
using judge::answer_lines;
using judge::answer_of;
using judge::CauseEvidence;
using judge::CauseKind;
using judge::NamedCause;
using judge::ShortAnswer;
using judge::Verdict;
using record::test::contains;

namespace {

Verdict late_verdict() {
    Verdict verdict;
    verdict.judged = true;
    verdict.on_time = false;
    verdict.sets = 20;
    verdict.late_sets = 3;
    verdict.least_slack = core::Duration::milliseconds(-12);
    verdict.overflowing_producers = {1};
    verdict.first_overflow_second = 4;
    verdict.findings = "NOT sustained: producer 1 exceeded its buffer. 3 of 20 sets were late.";
    NamedCause slots{.what = CauseKind::slots, .evidence = CauseEvidence::observed_and_twin};
    slots.text = "they were full for 1.5 s. With 2 slots instead of 1, every set would have been on time.";
    verdict.causes = {slots};
    verdict.advice = "--slots 2";
    return verdict;
}

}  // namespace

TEST_CASE("An answer is what came out, the main cause with its first sentence, and what to do") {
    const core::Plan plan = record::test::small_plan();
    Verdict verdict = late_verdict();
    CHECK(answer_lines(answer_of(plan, verdict, true), 15, false) ==
          "NOT SUSTAINED  3 of 20 sets were late, by up to 12 ms; 1 of 2 producers exceeded its buffer from "
          "second 4 on.\n"
          "Why            Too few slots: they were full for 1.5 s. (likely)\n"
          "Do             --slots 2.\n");
    CHECK(evidence_text(verdict) ==
          "Producer 1 exceeded its buffer. 3 of 20 sets were late. With 2 slots instead of 1, every set "
          "would have been "
          "on time.");
    verdict.causes[0].evidence = CauseEvidence::proof;
    CHECK(answer_of(plan, verdict, true).certainty == "certain");
    verdict.causes[0].suffices = false;  // the most of what was late, or only just
    CHECK(answer_of(plan, verdict, true).certainty == "likely");
    verdict.causes[0].what = CauseKind::not_told;
    CHECK(answer_of(plan, verdict, true).because == "Not clear: they were full for 1.5 s.");
    CHECK(answer_of(plan, verdict, true).certainty == "cannot tell");
}

TEST_CASE(
    "What is proved stands beside what the rows show of it, and on hosts there are no options of a "
    "simulation") {
    Verdict verdict = late_verdict();
    NamedCause& links = verdict.causes[0];
    links.what = CauseKind::consumer_links;
    links.where = core::node_of(core::ConsumerId{3});
    links.evidence = CauseEvidence::proof;
    links.text = "with a link of 2 Gb/s for consumer 3 instead of 1 Gb/s, every set would have been on time.";
    verdict.advice = "Use a link of 2 Gb/s for consumer 3 instead of 1 Gb/s (--consumer-link)";
    verdict.observed = {links};
    verdict.observed[0].text = "the interface of consumer 3 has 1 Gb/s, and 1.5 Gb/s are needed of it. More.";
    const core::Plan plan = record::test::small_plan();
    CHECK(answer_of(plan, verdict, true).because ==
          "The link of consumer 3: the interface of consumer 3 has 1 Gb/s, and 1.5 Gb/s are needed of it.");
    CHECK(contains(evidence_text(verdict),
                   " With a link of 2 Gb/s for consumer 3 instead of 1 Gb/s, every set"));
    CHECK(answer_of(plan, verdict, true).to_do ==
          "Use a link of 2 Gb/s for consumer 3 instead of 1 Gb/s (--consumer-link).");
    links.evidence = CauseEvidence::observed_and_twin;
    CHECK(answer_of(plan, verdict, false).to_do ==
          "Use a link of 2 Gb/s for consumer 3 instead of 1 Gb/s. First look at the speed and the errors of "
          "its port and cable.");
}

TEST_CASE("What was lost counts, and how late what never came would have been is not known") {
    Verdict verdict = late_verdict();
    verdict.lost_events = 2;
    CHECK(
        answer_of(record::test::small_plan(), verdict, true).sentence ==
        "3 of 20 sets were late; 1 of 2 producers exceeded its buffer from second 4 on; 2 events were lost.");
    verdict.lost_events = 1;
    CHECK(contains(answer_of(record::test::small_plan(), verdict, true).sentence, "; 1 event was lost."));
}

TEST_CASE("Each verdict has its word") {
    const core::Plan plan = record::test::small_plan();
    Verdict verdict = late_verdict();
    verdict.overflowing_producers.clear();
    verdict.sustained = true;
    CHECK(answer_of(plan, verdict, true).word == "LATE");
    CHECK(answer_of(plan, verdict, true).sentence == "3 of 20 sets were late, by up to 12 ms.");
    verdict.sustained = false;
    verdict.late_sets = 0;
    verdict.buffer_full_after_s = 200;
    CHECK(answer_of(plan, verdict, true).sentence ==
          "Backlogs grow, and the first buffer is full after 3.33 min.");
    verdict.buffer_full_after_s = {};
    CHECK(answer_of(plan, verdict, true).word == "NOT SUSTAINED");
    CHECK(answer_of(plan, verdict, true).sentence == "Producer 1 exceeded its buffer.");
    verdict = {};
    verdict.judged = verdict.sustained = true;
    verdict.on_time = true;
    verdict.sets = 20;
    verdict.least_slack = core::Duration::milliseconds(40);
    const ShortAnswer good = answer_of(plan, verdict, true);
    CHECK(good.word == "SUSTAINED");
    CHECK(contains(good.sentence, "; least slack 40 ms of "));
    CHECK(good.because.empty());
    CHECK(contains(answer_lines(good, 15, true), "\x1b[32;1mSUSTAINED\x1b[0m      "));
    verdict = {};
    verdict.findings = "Not judged: the run is too short. More.";
    CHECK(answer_of(plan, verdict, true).word == "NOT JUDGED");
    CHECK(answer_of(plan, verdict, true).sentence == "The run is too short.");
    CHECK(evidence_text(verdict) == "More.");
}
