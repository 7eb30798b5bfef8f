"""What a customer gets: each part of the message answered, from the graph and the documents, honestly."""

import re

import pytest

from agents.memory import MAX_HISTORY
from contracts.errors import ConflictError, NotFoundError, UnavailableError
from contracts.principal import Principal, PrincipalKind
from contracts.turns import Reason
from tests.serve_app.workflow.conftest import Listener, Replica, fails_with, reply_of

THREE_PARTS = "where is order 11568, what does its warranty cover, and send it to my new address"


async def test_a_message_with_three_requests_gets_one_reply_that_answers_each(
    replica: Replica, maya: Principal
) -> None:
    reply = reply_of(await replica.ask(THREE_PARTS, maya))
    assert "order 11568 of 10 June 2026 has been shipped" in reply.text
    assert "Oxbow Freight" in reply.text
    assert "Hub Nürnberg" in reply.text
    assert "The washing machine warranty covers faults of material and workmanship" in reply.text
    assert "can't change the delivery address of an order yet, and nothing has been changed" in reply.text
    assert {(part.tool, part.reason) for part in reply.parts} == {
        ("order_status", Reason.OK),
        ("order_warranty", Reason.OK),
        ("documents", Reason.OK),
        ("change_delivery_address", Reason.UNSUPPORTED),
    }
    assert "Warranty terms for washing machines" in {source.title for source in reply.sources}


async def test_each_sentences_sources_stand_in_the_reply(replica: Replica, maya: Principal) -> None:
    reply = reply_of(await replica.ask(THREE_PARTS, maya))
    named = {source_id for sentence in reply.sentences for source_id in sentence.source_ids}
    assert named == {source.source_id for source in reply.sources}
    assert set(re.findall(r"\[(\d+)\]", reply.text)) == named


async def test_the_listener_hears_of_each_step_in_order(replica: Replica, maya: Principal) -> None:
    listener = Listener()
    reply = reply_of(await replica.ask(THREE_PARTS, maya, emit=listener))
    firsts = list(dict.fromkeys(listener.names))
    assert firsts == ["route", "plan", "task", "sentence"]
    assert listener.names == sorted(listener.names, key=firsts.index)
    told = [event.data["text"] for event in listener.events if event.event.value == "sentence"]
    assert told == [sentence.text for sentence in reply.sentences]


async def test_an_explanation_is_given_to_who_asks_for_it_alone(replica: Replica, maya: Principal) -> None:
    explained = await replica.ask("Where is order 11568?", maya, explain=True)
    explanation = explained.body["explanation"]
    assert explanation["route"] == "knowledge"
    assert [task["tool"] for task in explanation["tasks"]] == ["order_status"]
    assert {"route", "plan", "knowledge", "summarize", "check", "remember"} <= set(explanation["timings_ms"])
    plain = await replica.ask("Where is order 11568?", maya)
    assert plain.body["explanation"] is None


async def test_what_was_spoken_of_is_meant_by_it_in_the_next_message(replica: Replica, maya: Principal) -> None:
    first = await replica.ask("Where is order 11568?", maya)
    second = await replica.ask("was it paid?", maya, session_id=first.session_id)
    assert "The payment for order 11568 over €648.99 by invoice is still open." in reply_of(second).text


async def test_a_question_back_is_answered_by_the_bare_value(replica: Replica, maya: Principal) -> None:
    first = await replica.ask("was it paid?", maya)
    assert [(part.tool, part.reason) for part in reply_of(first).parts] == [("order_payment", Reason.NEEDS_SLOT)]
    second = await replica.ask("11568", maya, session_id=first.session_id)
    assert "The payment for order 11568" in reply_of(second).text
    third = await replica.ask("10566", maya, session_id=first.session_id)
    state = await replica.sessions.get_session(first.session_id, maya.owner)
    assert state.open_question is None
    assert "11568" not in reply_of(third).text


async def test_a_question_back_offers_what_there_is_to_choose_from(replica: Replica, maya: Principal) -> None:
    listener = Listener()
    outcome = await replica.ask("was it paid?", maya, emit=listener)
    reply = reply_of(outcome)
    assert "Which order do you mean?" in reply.text
    assert set(re.findall(r"\b1\d{4}\b", reply.text)) == {"10566", "11568"}
    assert listener.names[:3] == ["route", "plan", "task"]
    # An offer is not yet spoken of: the next "it" must not mean one of them.
    assert (await replica.sessions.get_session(outcome.session_id, maya.owner)).entities == ()


async def test_a_question_back_is_asked_also_where_the_choices_can_not_be_looked_up(
    replica: Replica, maya: Principal
) -> None:
    replica.parts.before["query"] = fails_with(UnavailableError("Down."))
    reply = reply_of(await replica.ask("was it paid?", maya))
    assert "Which order do you mean?" in reply.text
    assert [part.reason for part in reply.parts] == [Reason.NEEDS_SLOT]


async def test_another_customers_order_looks_like_none(replica: Replica, maya: Principal) -> None:
    reply = reply_of(await replica.ask("Where is order 11251?", maya))
    assert reply.text.startswith("I found no order with the number 11251 in your account.")


async def test_a_guest_is_told_to_sign_in_for_what_is_personal_and_told_what_is_public(replica: Replica) -> None:
    guest = Principal(kind=PrincipalKind.GUEST, subject="g1")
    refused = reply_of(await replica.ask("Where is order 11568?", guest))
    assert [part.reason for part in refused.parts] == [Reason.DENIED]
    assert "sign in" in refused.text
    told = reply_of(await replica.ask("How much is the Brookline W700?", guest))
    assert "€648.99" in told.text


@pytest.mark.parametrize("message", ["Where is order 11568?", "what is on this picture?"])
async def test_pictures_that_came_along_are_told_to_be_unread_once(
    replica: Replica, maya: Principal, message: str
) -> None:
    reply = reply_of(await replica.ask(message, maya, images=2))
    assert reply.text.count("can't read pictures yet") == 1
    assert ("has been shipped" in reply.text) == ("order" in message)


async def test_a_session_remembers_its_latest_exchanges(replica: Replica, maya: Principal) -> None:
    session_id = (await replica.ask("hello number 0", maya)).session_id
    for number in range(1, MAX_HISTORY + 2):
        await replica.ask(f"hello number {number}", maya, session_id=session_id)
    state = await replica.sessions.get_session(session_id, maya.owner)
    assert [exchange.message for exchange in state.history] == [
        f"hello number {number}" for number in range(2, MAX_HISTORY + 2)
    ]


async def test_an_ended_session_takes_no_more_messages(replica: Replica, maya: Principal) -> None:
    session_id = (await replica.ask("hello", maya)).session_id
    await replica.sessions.end_session(session_id, maya.owner, replica.service.clock.now())
    with pytest.raises(ConflictError):
        await replica.ask("hello again", maya, session_id=session_id)


async def test_another_owners_session_is_not_there(replica: Replica, maya: Principal, farah: Principal) -> None:
    session_id = (await replica.ask("Where is order 11568?", maya)).session_id
    with pytest.raises(NotFoundError):
        await replica.ask("was it paid?", farah, session_id=session_id)
    assert len(await replica.sessions.list_turns(session_id, maya.owner, limit=9)) == 1


async def test_what_one_customer_spoke_of_is_not_known_to_another(
    replica: Replica, maya: Principal, farah: Principal
) -> None:
    await replica.ask("Where is order 11568?", maya)
    reply = reply_of(await replica.ask("was it paid?", farah))
    assert [part.reason for part in reply.parts] == [Reason.NEEDS_SLOT]


async def test_a_yes_to_the_offer_of_a_person_hands_the_earlier_message_over_once(
    replica: Replica, maya: Principal
) -> None:
    first = await replica.ask("cancel order 11568", maya)
    taken = reply_of(await replica.ask("yes please", maya, session_id=first.session_id))
    assert taken.handover_id is not None
    kept = await replica.records.get_handover(taken.handover_id)
    assert kept.message == "cancel order 11568"
    again = reply_of(await replica.ask("I want to talk to a person", maya, session_id=first.session_id))
    assert again.handover_id == taken.handover_id
    assert "already with" in again.text
    handovers = await replica.records.list_handovers()
    assert [one.handover_id for one in handovers if one.session_id == first.session_id] == [taken.handover_id]


async def test_what_is_not_wanted_is_not_done(replica: Replica, maya: Principal) -> None:
    reply = reply_of(await replica.ask("please don't connect me with a human", maya))
    assert reply.handover_id is None
    assert "Nothing has been done" in reply.text


async def test_what_was_too_much_for_one_turn_is_looked_up_at_a_yes(replica: Replica, maya: Principal) -> None:
    first = await replica.ask(
        "Where is order 11568? What did order 10566 cost in total? How much is the Brookline W700? "
        "Do you have the Lumivane Glow in stock?",
        maya,
    )
    assert "Lumivane Glow" in reply_of(first).text
    assert "shall I do that next?" in reply_of(first).text

    second = await replica.ask("yes please", maya, session_id=first.session_id)

    assert [part.tool for part in reply_of(second).parts] == ["product_stock"]
